import type { Engine, machine } from "./engine.ts";

/** Plays the loop: looks at due work at every time it asks for, up to and with `until`. */
export function runUntil(engine: Engine, clock: ReturnType<typeof machine>, until: number): void {
  for (let at = engine.nextLook(); at !== null && at <= until; at = engine.nextLook()) {
    if (at > engine.now()) clock.pass(at - engine.now());
    engine.look();
  }
  if (until > engine.now()) clock.pass(until - engine.now());
}
