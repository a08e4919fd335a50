import { z } from "zod";
import { mustFind, setIntegrationEnabled } from "../../../core/projects/integrations.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { deliveryDetailAnswer, getDelivery } from "../../../out/outbox/delivery-detail.ts";
import { eventKinds } from "../../../out/outbox/event.ts";
import { deliveryAnswer, listDeliveries } from "../../../out/outbox/rows.ts";
import { sendAgain } from "../../../tenant/channel-verbs.ts";
import { queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

const integrationPath = z.strictObject({ id: z.string(), iid: z.string() });
const deliveryPath = z.strictObject({ id: z.string(), iid: z.string(), did: z.string() });
const enabledAnswer = z.object({ enabled: z.boolean() });

function enabling(name: "enable" | "disable", summary: string): Route {
  const enabled = name === "enable";
  return route({
    method: "POST",
    path: `/v1/projects/{id}/integrations/{iid}/${name}`,
    name: `${name}Integration`,
    tag: "Integrations",
    summary,
    plane: "api",
    params: integrationPath,
    status: 200,
    answer: enabledAnswer,
    errors: ["not_found"],
    handle: ({ tenant, actor, params }) => {
      const switched = { id: params.iid, enabled, by: actor.accountId };
      tenant.store.write((tx) => setIntegrationEnabled(tx, getProject(tx, params.id), switched));
      return { enabled };
    },
  });
}

/** What a channel sends: its deliveries, tests, and whether it sends at all (contract §15, Integrations). */
export const deliveryRoutes: Route[] = [
  enabling(
    "enable",
    "Enable a channel: its streak of failures ends, what waited goes out in order",
  ),
  enabling("disable", "Disable a channel; configuration and credentials stay"),
  route({
    method: "GET",
    path: "/v1/projects/{id}/integrations/{iid}/deliveries",
    name: "listDeliveries",
    tag: "Integrations",
    summary: "A channel's deliveries, newest first",
    plane: "api",
    params: integrationPath,
    query: z.strictObject({
      limit: queryInteger(1, 200).default(50),
      status: deliveryAnswer.shape.status.optional().meta({ description: "Additive." }),
      event: z
        .enum(eventKinds, { error: `must be one of ${eventKinds.join(", ")}` })
        .optional()
        .meta({ description: "Additive." }),
      alert: queryInteger(1).optional().meta({ description: "Additive: an alert's id." }),
    }),
    status: 200,
    answer: z.object({ deliveries: z.array(deliveryAnswer) }),
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query }) => {
      const { id } = mustFind(tenant.store, getProject(tenant.store, params.id), params.iid);
      return { deliveries: listDeliveries(tenant.store, id, query) };
    },
  }),
  route({
    method: "GET",
    path: "/v1/projects/{id}/integrations/{iid}/deliveries/{did}",
    name: "getDelivery",
    tag: "Integrations",
    summary: "A delivery with what was sent, without credentials, and its last five attempts",
    plane: "api",
    additive: true,
    params: deliveryPath,
    status: 200,
    answer: deliveryDetailAnswer,
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) =>
      getDelivery(store, mustFind(store, getProject(store, params.id), params.iid), params.did),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/integrations/{iid}/deliveries/{did}/resend",
    name: "resendDelivery",
    tag: "Integrations",
    summary: "Send a delivery's event once more: same event id, same bytes",
    plane: "api",
    additive: true,
    params: deliveryPath,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["not_found", "delivery_not_resendable", "integration_disabled"],
    handle: ({ tenant, params }) =>
      tenant.store.write((tx) => {
        const of = { channel: params.iid, delivery: params.did };
        return { id: sendAgain(tx, getProject(tx, params.id), of) };
      }),
  }),
  route({
    method: "POST",
    path: "/v1/projects/{id}/integrations/{iid}/test",
    name: "testIntegration",
    tag: "Integrations",
    summary: "Send a synthetic alert.test event at once, through the sender of real deliveries",
    plane: "api",
    deed: true,
    params: integrationPath,
    status: 200,
    answer: z.object({ ok: z.boolean(), error: z.string().optional() }),
    errors: ["not_found", "integration_disabled", "overloaded", "sender_unavailable"],
    handle: ({ tenant, params }) =>
      tenant.outbox.testFire.integration(
        mustFind(tenant.store, getProject(tenant.store, params.id), params.iid),
      ),
  }),
];
