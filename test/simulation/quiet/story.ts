import { hash } from "node:crypto";
import { liftSilence } from "../../../src/core/alerts/silencing.ts";
import type { RuleBody } from "../../../src/core/projects/rule.ts";
import { defaultRule } from "../../support/plane.ts";
import { machine } from "../engine.ts";
import { numbersOfStory } from "../numbers.ts";
import { type Seeded, seeded } from "../seeded.ts";
import { makeWorld, type World } from "../world.ts";
import { next, type Scene } from "./acts.ts";
import { createBeats, makeBeats } from "./beats.ts";
import { startBox } from "./box.ts";
import { lawsOf, type Seen } from "./laws.ts";
import { openLedger } from "./ledger.ts";

export interface QuietStory extends Seen {
  /** Sentences about every law that was broken; empty is what is wanted. */
  faults: string[];
  /** SHA-256 over every event, every line of history and every alert, byte for byte. */
  log: string;
  events: number;
  restarts: number;
  jumps: number;
  /** Jobs that were missing, failed or ran too long. */
  missing: number;
  days: number;
}

const ACTS = 24;

/** Plays one story over a fresh file at `path`. */
export async function playQuiet(seed: number, path: string): Promise<QuietStory> {
  const random = seeded(seed);
  const world = quietWorld(random);
  const clock = machine();
  const made = makeBeats(random);
  const box = startBox({ path, world, machine: clock, random, beats: made });
  const { engine } = box;
  const ledger = openLedger(world);
  try {
    ledger.read(engine);
    const beats = createBeats(made, ledger, box);
    const laws = lawsOf(box, { ledger, beats });
    const scene: Scene = { box, machine: clock, world, random, ledger, beats, each: laws.each };
    await box.look();
    laws.each();
    const numbers = numbersOfStory(seed);
    for (let left = ACTS; left > 0 && laws.faults.length === 0; left -= 1) {
      await next(scene);
      numbers.read(engine.store);
    }
    for (const { id } of ledger.silences.splice(0)) engine.store.write((tx) => liftSilence(tx, id));
    laws.each({ what: "end of all silences" });
    await box.look();
    laws.each();
    const { store, facts } = engine;
    const count = (what: string) => facts.filter((fact) => fact.what === what).length;
    const bodies = store.sql("SELECT body FROM events ORDER BY id").pluck().all();
    const history = store.sql("SELECT * FROM timeline ORDER BY id").raw().all();
    const rows = store.sql("SELECT * FROM alerts ORDER BY id").all();
    return {
      faults: [
        ...engine.errors.map((error) => `logged: ${JSON.stringify(error)}`),
        ...laws.faults,
        ...beats.faults,
        ...numbers.faults(engine.store),
      ],
      log: hash("sha256", JSON.stringify([bodies, history, rows])),
      events: bodies.length,
      restarts: count("started") - 1,
      jumps: count("jumped"),
      missing: beats.missing.count,
      days: clock.mono() / 86_400_000,
      ...laws.seen,
    };
  } finally {
    engine.close();
  }
}

/** Rules of which some silence others, wake again, and have little room. */
function quietWorld(random: Seeded): World {
  const world = makeWorld(random);
  const rules = world.rules.map(
    (rule, i): RuleBody => ({
      ...rule,
      // Windows are for the other stories: here alerts are wanted.
      fire_after: defaultRule.fire_after,
      silenced_by:
        i > 0 && random.chance(0.6)
          ? [{ rule: `rule ${random.below(i)}`, equal: random.chance(0.5) ? ["host"] : [] }]
          : [],
      ack_expires_minutes: random.pick([0, 0, 20, 300]),
      max_open: random.pick([0, 0, 1, 3]),
    }),
  );
  return { ...world, rules };
}
