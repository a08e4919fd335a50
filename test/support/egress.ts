import { systemClock } from "../../src/ground/kit/clock.ts";
import { createEgress, type EgressClient } from "../../src/ground/kit/egress.ts";

/** A box's client under the real clock, for tests that talk to a receiver on loopback. */
export function boxEgress(): EgressClient {
  return createEgress({ clock: systemClock, rules: { role: "box" }, userAgent: "box/test" });
}
