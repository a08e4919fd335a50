import type { Engine, machine } from "./engine.ts";
import { runUntil } from "./loop.ts";
import type { Seeded } from "./seeded.ts";
import { makeNamed, WORDS } from "./world.ts";

/** A sender says something of an alert that it named: that it goes on, most often, or that it ended or is taken. */
export function sendersWord(engine: Engine, random: Seeded): void {
  const known = engine.facts.filter((fact) => fact.what === "event" && fact.named !== null);
  const fact = random.pick(known.slice(-3));
  if (fact?.what !== "event" || fact.named === null) return;
  const { rule, host, word, named } = fact;
  const { lasts } = makeNamed(random);
  const what = random.below(10);
  if (what < 6) {
    engine.event(rule, host, word, { ...named, lasts: lasts ?? named.lasts });
    return;
  }
  const instance = random.pick([null, named.instance, named.instance, "1", "2"]);
  const status = what < 9 ? "resolved" : "acknowledged";
  engine.conclude({ rule, word, key: named.key, instance, status });
}

/** A sender reports one firing a few times, at no regular times, over small corrections of the clock. */
export function keepsReporting(
  engine: Engine,
  clock: ReturnType<typeof machine>,
  random: Seeded,
): void {
  const rule = random.below(engine.rules.length);
  const word = random.pick(WORDS);
  const key = random.pick(["disk", "link"]);
  const shortest = random.pick([70, 130, 400, 5000]);
  for (let left = 2 + random.below(5); left > 0; left -= 1) {
    engine.event(rule, "a", word, { key, instance: "7", lasts: shortest + random.below(100) });
    if (random.chance(0.4)) {
      clock.jump(random.pick([-1, -1, 1]) * (3 + random.below(shortest)));
      engine.look();
    }
    runUntil(engine, clock, engine.now() + random.pick([1, 30, 58, 59, 61, 200, shortest - 1]));
  }
}
