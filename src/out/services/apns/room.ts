import * as z from "zod";
import type { Sent } from "../../outbox/destination.ts";
import { channel } from "../channel.ts";

/** Pushes to the devices of a tenant's members (contract §17, rule 6): by the hosted service, for a box after relay. */
export const apns = channel({
  kind: "apns",
  about:
    "a channel that pushes to the devices of all members (Apple APNs, through the hosted service)",
  fields: z.strictObject({}),
  flags: {},
  pushes: true,
  bodyAsIs: true,
  canTest: ({ push }) => push !== undefined,
  async send({ host, integration, message }) {
    return host.push?.(integration, message) ?? notFromHere(host.hasRelay());
  },
});

/** A row of a box: who pushes instead, so that its deliveries don't look lost. */
function notFromHere(hasRelay: boolean): Sent {
  const error = hasRelay
    ? "pushed by the hosted service, which gets this event through the relay"
    : "not pushed: no hosted relay is configured";
  return { verdict: { kind: "dropped", error } };
}
