import * as z from "zod";
import { switchChannel } from "../../../core/alerts/switch-channel.ts";
import { mustFind } from "../../../core/projects/integrations.ts";
import { deliveryDetailAnswer, getDelivery } from "../../../out/outbox/delivery-detail.ts";
import { deliveriesQuery, deliveryAnswer, listDeliveries } from "../../../out/outbox/rows.ts";
import { sendAgain } from "../../../tenant/channel-verbs.ts";
import type { Route } from "../route.ts";
import { inProject, routesIn, scopeBelow } from "../scope.ts";

const ofChannel = scopeBelow(inProject, "/integrations/{iid}", (reader, { project, params }) => ({
  channel: mustFind(reader, project, params.iid),
}));
const channel = routesIn(ofChannel, { tag: "Integrations" });
const enabledAnswer = z.object({ enabled: z.boolean() });

function enabling(name: "enable" | "disable", summary: string): Route {
  const enabled = name === "enable";
  return channel.post(`/${name}`, {
    name: `${name}Integration`,
    summary,
    answer: enabledAnswer,
    write: (tx, { actor, project, params }) => {
      switchChannel(tx, project, { id: params.iid, enabled, by: actor.accountId });
      return { enabled };
    },
  });
}

/** What a channel sends: its deliveries, tests, and whether it sends at all (contract §15, Integrations). */
export const deliveryRoutes: Route[] = [
  enabling(
    "enable",
    "Enable a channel: its count of failures is 0, and what waited is sent in order",
  ),
  enabling("disable", "Disable a channel; configuration and credentials stay"),
  channel.get("/deliveries", {
    name: "listDeliveries",
    summary: "A channel's deliveries, newest first",
    query: deliveriesQuery,
    answer: z.object({ deliveries: z.array(deliveryAnswer) }),
    read: (store, { channel, query }) => ({
      deliveries: listDeliveries(store, channel.id, query),
    }),
  }),
  channel.get("/deliveries/{did}", {
    name: "getDelivery",
    summary: "A delivery with what was sent, without credentials, and its last five attempts",
    additive: true,
    answer: deliveryDetailAnswer,
    read: (store, { channel, params }) => getDelivery(store, channel, params.did),
  }),
  channel.post("/deliveries/{did}/resend", {
    name: "resendDelivery",
    summary: "Send a delivery's event once more: same event id, same bytes",
    additive: true,
    status: 201,
    answer: z.object({ id: z.string() }),
    errors: ["delivery_not_resendable", "integration_disabled"],
    write: (tx, { project, params }) => ({
      id: sendAgain(tx, project, { channel: params.iid, delivery: params.did }),
    }),
  }),
  channel.post("/test", {
    name: "testIntegration",
    summary: "Send a synthetic alert.test event at once, through the sender of real deliveries",
    auditAlways: true,
    answer: z.object({ ok: z.boolean(), error: z.string().optional() }),
    errors: ["integration_disabled", "overloaded", "sender_unavailable"],
    handle: ({ tenant, channel }) => tenant.outbox.testFire.integration(channel),
  }),
];
