import * as z from "zod";
import { losePushes } from "../../../core/alerts/fallback.ts";
import { writeLateTimeline } from "../../../core/alerts/timeline.ts";
import {
  configureRelay,
  readRelay,
  relayAnswer,
  relayWrite,
  removeRelay,
} from "../../../core/projects/relay.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import { checkUrl, readUrl } from "../../../ground/kit/url.ts";
import type { Route } from "../route.ts";
import { deleted, inTenant, routesIn } from "../scope.ts";

const relay = routesIn(inTenant, { at: "/relay", tag: "Relay" });

/** The relay that a box pages through (contract §15, Pairing and relay; contract §7). */
export const relayRoutes: Route[] = [
  relay.get("", {
    name: "getRelay",
    summary: "The relay's settings; a hosted tenant has no relay",
    answer: relayAnswer,
    handle: ({ tenant }) =>
      tenant.role === "hosted"
        ? { configured: false, name: "", relay_url: "" }
        : readRelay(tenant.store),
  }),
  relay.put("", {
    name: "putRelay",
    summary:
      "Set the relay for every project, present and later; with test, only after the relay took a signed test",
    manager: true,
    boxOnly: true,
    body: relayWrite,
    reads: relayAnswer,
    answer: z.object({ relay_url: z.string() }),
    errors: ["address_refused", "relay_not_proved", "overloaded"],
    handle: async ({ tenant, body }) => {
      const { relay_url, relay_secret, hosted_tenant_id = "", box_public_url = "" } = body;
      checkUrl(relay_url, tenant.addressRules, "/relay_url");
      if (box_public_url !== "") checkPublicUrl(box_public_url);
      if (body.test) {
        const target = { relayUrl: relay_url, secret: relay_secret, tenantId: tenant.id };
        await tenant.outbox.testFire.relay(target);
      }
      const isKnown = hosted_tenant_id !== "" && box_public_url !== "";
      tenant.store.write((tx) =>
        configureRelay(tx, tenant.sealer, {
          relayUrl: relay_url,
          secret: relay_secret,
          announcement: isKnown
            ? { hostedTenantId: hosted_tenant_id, boxPublicUrl: box_public_url }
            : null,
        }),
      );
      return { relay_url };
    },
  }),
  relay.delete("", {
    name: "deleteRelay",
    summary: "Remove the relay from every project; pages that wait for it are dropped",
    additive: true,
    manager: true,
    boxOnly: true,
    answer: deleted.extend({
      dropped_deliveries: z.int().meta({
        description: "Pages that waited for the relay; each alert's timeline says so.",
      }),
    }),
    errors: ["not_found"],
    write: (tx) => ({
      deleted: true,
      dropped_deliveries: losePushes(tx, () => removeRelay(tx, writeLateTimeline)),
    }),
  }),
];

/** It is only told on, so any address may stand in it, but nothing that no receipt check could call. */
export function checkPublicUrl(url: string): void {
  const parsed = readUrl(url);
  const reason = typeof parsed === "string" ? parsed : null;
  if (reason !== null) throw invalid([{ field: "/box_public_url", reason }]);
}
