import { z } from "zod";
import { setFallback } from "../../../core/alerts/fallback.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { peopleAnswer } from "../../../ground/kit/fields.ts";
import type { Reader } from "../../../ground/store/store.ts";
import {
  type Fallback,
  fallbackBody,
  gatewayAnswer,
  gatewayWrite,
} from "../../../out/contacts/contact.ts";
import {
  deleteGateway,
  gatewaySettings,
  getGateway,
  listGateways,
  markGateway,
  putGateway,
  tryGateway,
} from "../../../out/contacts/gateways.ts";
import { readFallback } from "../../../out/contacts/notify.ts";
import { namedPeople } from "../../../people/named.ts";
import { contactGuardOf } from "../../../tenant/contact-verbs.ts";
import { deleted } from "../fields.ts";
import { type Route, route } from "../route.ts";
import { textsOf } from "./contacts.ts";

const fallbackAnswer = fallbackBody.safeExtend({ people: peopleAnswer });
const withPeople = (reader: Reader, fallback: Fallback) => ({
  ...fallback,
  people: namedPeople(reader, fallback.accounts),
});

const common = { plane: "api", additive: true } as const;
const gatewayPath = z.strictObject({ kind: z.string() });
const bodyErrors = ["invalid_request", "invalid_json"] as const;

const gateways = { ...common, tag: "Gateways", manager: true } as const;

/** What serves people's contacts, and who is paged when nobody can be reached (contract §27). */
export const gatewayRoutes: Route[] = [
  route({
    ...gateways,
    method: "GET",
    path: "/v1/gateways",
    name: "listGateways",
    summary: "What serves people's contacts: mail server, bots, accounts with services",
    status: 200,
    answer: z.object({ gateways: z.array(gatewayAnswer) }),
    errors: ["forbidden"],
    handle: ({ tenant }) => ({ gateways: listGateways(tenant.store, contactGuardOf(tenant)) }),
  }),
  route({
    ...gateways,
    method: "GET",
    path: "/v1/gateways/{kind}",
    name: "getGateway",
    summary: "One of them, without its secrets",
    params: gatewayPath,
    status: 200,
    answer: gatewayAnswer,
    errors: ["forbidden", "not_found"],
    handle: ({ tenant, params }) => getGateway(tenant.store, params.kind, contactGuardOf(tenant)),
  }),
  route({
    ...gateways,
    owner: true,
    method: "PUT",
    path: "/v1/gateways/{kind}",
    name: "putGateway",
    summary:
      "Set one up (owners only): it is stored once a request shows that it works; another address needs its secrets again",
    params: gatewayPath,
    query: z.strictObject({
      dry_run: z.enum(["true", "false"], { error: "must be true or false" }).optional(),
    }),
    body: gatewayWrite(),
    readOnly: ["kind", "open", "last_ok_at", "last_error", "updated_at"],
    status: 200,
    answer: gatewayAnswer.extend({
      changed: z.boolean().optional().meta({
        description: "With `dry_run`, which stores nothing: whether it would become another.",
      }),
    }),
    errors: [
      ...(["forbidden", "not_found", ...bodyErrors, "address_refused"] as const),
      ...(["missing_credential", "gateway_refused"] as const),
    ],
    async handle({ tenant, params, query, body }) {
      const guard = contactGuardOf(tenant);
      const { test = true, ...fields } = body;
      const what = { kind: params.kind, input: textsOf(fields), guard };
      const { kind, settings } = gatewaySettings(tenant.store, what);
      if (query.dry_run === "true") return tryGateway(tenant.store, { kind, settings, guard });
      if (test) {
        const { verdict } = await tenant.outbox.proveGateway(kind, settings);
        if (verdict.kind !== "delivered")
          throw new ServiceError("gateway_refused", `The service refused it: ${verdict.error}.`, {
            details: [{ reason: verdict.error }],
          });
      }
      return tenant.store.write((tx) => {
        const put = putGateway(tx, { kind, settings, guard });
        if (test) markGateway(tx, kind.kind, null);
        return test ? { ...put, last_ok_at: tx.at } : put;
      });
    },
  }),
  route({
    ...gateways,
    owner: true,
    method: "DELETE",
    path: "/v1/gateways/{kind}",
    name: "deleteGateway",
    summary: "Remove one (owners only): its contacts stay and reach nobody",
    params: gatewayPath,
    status: 200,
    answer: deleted,
    errors: ["forbidden", "not_found"],
    handle({ tenant, params }) {
      tenant.store.write((tx) => deleteGateway(tx, params.kind));
      return { deleted: true };
    },
  }),
  route({
    ...common,
    tag: "Contacts",
    method: "GET",
    path: "/v1/fallback",
    name: "getFallback",
    summary: "Who is paged when nobody on a whole ladder can be reached; both empty: every owner",
    status: 200,
    answer: fallbackAnswer,
    errors: [],
    handle: ({ tenant: { store } }) => withPeople(store, readFallback(store)),
  }),
  route({
    ...common,
    tag: "Contacts",
    manager: true,
    method: "PUT",
    path: "/v1/fallback",
    name: "putFallback",
    summary: "Set who that is",
    body: fallbackBody,
    people: ["accounts.*"],
    readOnly: ["people"],
    status: 200,
    answer: fallbackAnswer,
    errors: ["forbidden", ...bodyErrors, "not_a_member", "unknown_schedule"],
    handle: ({ tenant: { store }, body }) =>
      withPeople(
        store,
        store.write((tx) => setFallback(tx, body)),
      ),
  }),
];
