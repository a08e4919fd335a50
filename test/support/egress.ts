import { systemClock } from "../../src/ground/kit/clock.ts";
import { createEgress, type EgressClient } from "../../src/ground/kit/egress.ts";
import { createNames, type Resolve } from "../../src/ground/kit/names.ts";

/** A box's client under the real clock, for tests that talk to a receiver on loopback. `resolve`: how it looks names up. */
export function boxEgress(resolve?: Resolve): EgressClient {
  const [clock, rules] = [systemClock, { role: "box" }] as const;
  const names = resolve && { names: createNames({ clock, resolve }) };
  return createEgress({ clock, rules, userAgent: "box/test", ...names });
}
