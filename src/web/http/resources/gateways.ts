import * as z from "zod";
import { setFallback } from "../../../core/alerts/fallback.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { peopleAnswer } from "../../../ground/kit/fields.ts";
import { dryRun } from "../../../ground/kit/query-fields.ts";
import type { Reader } from "../../../ground/store/store.ts";
import {
  type Fallback,
  fallbackBody,
  type Gateway,
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
import type { Credentials } from "../../../out/outbox/credentials.ts";
import type { GatewayKind } from "../../../out/services/contact-kind.ts";
import { namedPeople } from "../../../people/named.ts";
import type { Tenant } from "../../../tenant/tenant.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";
import { textsOf } from "./contacts.ts";

const gateways = routesIn(inTenant, {
  at: "/gateways",
  tag: "Gateways",
  additive: true,
  manager: true,
});
const fallback = routesIn(inTenant, { at: "/fallback", tag: "Contacts", additive: true });

const fallbackAnswer = fallbackBody.safeExtend({ people: peopleAnswer });
const withPeople = (reader: Reader, fallback: Fallback) => ({
  ...fallback,
  people: namedPeople(reader, fallback.accounts),
});

/** Stores settings; with `test` only once a request showed that they work. Throws 422 gateway_refused. */
async function storeGateway(
  tenant: Tenant,
  { kind, settings, test }: { kind: GatewayKind; settings: Credentials; test: boolean },
): Promise<Gateway> {
  if (test) {
    const { verdict } = await tenant.outbox.proveGateway(kind, settings);
    if (verdict.kind !== "delivered")
      throw new ServiceError(
        "gateway_refused",
        `The test of these settings failed, so nothing was changed: ${verdict.error}.`,
        {
          details: [{ reason: verdict.error }],
        },
      );
  }
  return tenant.store.write((tx) => {
    const put = putGateway(tx, { kind, settings, guard: tenant });
    if (test) markGateway(tx, kind.kind, null);
    return test ? { ...put, last_ok_at: tx.at } : put;
  });
}

/** The same of what a page's form holds: what is blank keeps what is there. Throws as the route does. */
export async function setGateway(
  tenant: Tenant,
  { kind: name, input, test }: { kind: string; input: Credentials; test: boolean },
): Promise<void> {
  const { kind, settings } = gatewaySettings(tenant.store, { kind: name, input, guard: tenant });
  await storeGateway(tenant, { kind, settings, test });
}

/** Whether what is stored works now: null, or why not. It is noted as any request is. Throws 404. */
export async function testGateway(tenant: Tenant, name: string): Promise<string | null> {
  getGateway(tenant.store, name, tenant);
  const { kind, settings } = gatewaySettings(tenant.store, {
    kind: name,
    input: {},
    guard: tenant,
  });
  const { verdict } = await tenant.outbox.proveGateway(kind, settings);
  const error = verdict.kind === "delivered" ? null : verdict.error;
  tenant.store.write((tx) => markGateway(tx, kind.kind, error));
  return error;
}

/** What serves people's contacts, and who is paged when nobody can be reached (contract §27). */
export const gatewayRoutes: Route[] = [
  gateways.get("", {
    name: "listGateways",
    summary:
      "The gateways, which serve people's contacts: mail server, bots, accounts with services",
    answer: z.object({ gateways: z.array(gatewayAnswer) }),
    read: (store, { tenant }) => ({ gateways: listGateways(store, tenant) }),
  }),
  gateways.get("/{kind}", {
    name: "getGateway",
    summary: "One gateway, without its secrets",
    answer: gatewayAnswer,
    read: (store, { tenant, params }) => getGateway(store, params.kind, tenant),
  }),
  gateways.put("/{kind}", {
    name: "putGateway",
    summary:
      "Set a gateway up (owners only): it is stored once a request shows that it works; another address needs its secrets again",
    owner: true,
    query: z.strictObject({ dry_run: dryRun }),
    body: gatewayWrite,
    reads: gatewayAnswer,
    answer: gatewayAnswer.extend({
      changed: z.boolean().optional().meta({
        description: "With `dry_run`, which stores nothing: whether it would become another.",
      }),
    }),
    errors: ["address_refused", "missing_credential", "gateway_refused"],
    handle: async ({ tenant, params, query, body }) => {
      const { test = true, ...fields } = body;
      const what = { kind: params.kind, input: textsOf(fields), guard: tenant };
      const { kind, settings } = gatewaySettings(tenant.store, what);
      if (query.dry_run === true)
        return tryGateway(tenant.store, { kind, settings, guard: tenant });
      return storeGateway(tenant, { kind, settings, test });
    },
  }),
  gateways.delete("/{kind}", {
    name: "deleteGateway",
    summary: "Remove a gateway (owners only): its contacts stay, but reach nobody",
    owner: true,
    write: (tx, { params }) => deleteGateway(tx, params.kind),
  }),
  fallback.get("", {
    name: "getFallback",
    summary:
      "The fallback: who is paged when a whole ladder reaches nobody, or none of its pages gets through within ten minutes of its last rung; every owner, too, if both are empty or nothing reaches any of them",
    answer: fallbackAnswer,
    read: (store) => withPeople(store, readFallback(store)),
  }),
  fallback.put("", {
    name: "putFallback",
    summary: "Set the fallback",
    manager: true,
    body: fallbackBody,
    reads: fallbackAnswer,
    people: ["accounts.*"],
    answer: fallbackAnswer,
    errors: ["not_a_member", "unknown_schedule"],
    write: (tx, { body }) => withPeople(tx, setFallback(tx, body)),
  }),
];
