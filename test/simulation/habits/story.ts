import { hash } from "node:crypto";
import { getProject } from "../../../src/core/projects/projects.ts";
import type { RuleBody } from "../../../src/core/projects/rule.ts";
import { createSource, findSource, type Source } from "../../../src/core/projects/sources.ts";
import { defaultRule } from "../../support/plane.ts";
import { type Engine, machine, startEngine } from "../engine.ts";
import { runUntil } from "../loop.ts";
import { type Seeded, seeded } from "../seeded.ts";
import { type Laws, lawsOf } from "./laws.ts";
import { type Asked, DAY, HOUR } from "./words.ts";

export interface HabitsStory {
  /** Sentences about every law that was broken; empty is what is wanted. */
  faults: string[];
  /** SHA-256 over every alert, byte for byte. */
  log: string;
  days: number;
  events: number;
  kills: number;
  restores: number;
  jumps: number;
  /** Alerts, and answers that a kill left open. */
  fresh: number;
  more: number;
  missing: number;
  either: number;
}

const TEXTS = [
  "backup has ended",
  "payment was refused by the bank",
  "queue is long on the mail host",
];
const OTHERS = [
  "certificate expires soon",
  "the lock is held by nobody",
  "disk of the archive is full",
  "kernel took a page fault",
  "user left without a word",
  "fan stands still",
  "no route to the printer",
  "two leaders were elected",
];
const WEEKS = 4;

/** Something that comes again and again. */
interface Stream {
  text: string;
  source: Source;
  host: string;
  level: number;
  every: number;
  n: number;
  /** Seconds of the story. */
  next: number;
}

interface Scene {
  engine: Engine;
  clock: ReturnType<typeof machine>;
  random: Seeded;
  laws: Laws;
  streams: Stream[];
  path: string;
  kills: number;
  restores: number;
}

/** Plays one story over a fresh file at `path`. */
export function playHabits(seed: number, path: string): HabitsStory {
  const random = seeded(seed);
  const clock = machine();
  const asked = someAsked(random);
  const world = { rotas: [], ladders: new Map(), fallback: [], rules: rulesOf(asked), horizon: 0 };
  const engine = startEngine({ path, world, machine: clock, random });
  try {
    const scene: Scene = {
      ...{ engine, clock, random, path, kills: 0, restores: 0 },
      laws: lawsOf(engine, asked),
      streams: streamsOf(engine, random),
    };
    const { laws } = scene;
    engine.look();
    let acts = 0;
    while (elapsed(scene) < WEEKS * 7 * DAY && laws.faults.length === 0) {
      const first = scene.streams.reduce((a, b) => (a.next <= b.next ? a : b));
      if (acts <= first.next) {
        pass(scene, acts - elapsed(scene));
        actOf(scene);
        acts = elapsed(scene) + 60 + random.below(30 * HOUR);
      } else {
        pass(scene, first.next - elapsed(scene));
        come(scene, first, first.n);
        while (first.next <= elapsed(scene)) first.next += first.every + random.below(HOUR / 4);
      }
    }
    const rows = engine.store.sql("SELECT * FROM alerts ORDER BY id").all();
    const jumps = engine.facts.filter(({ what }) => what === "jumped").length;
    return {
      faults: [...engine.errors.map((error) => `logged: ${JSON.stringify(error)}`), ...laws.faults],
      log: hash("sha256", JSON.stringify([rows, laws.seen])),
      days: elapsed(scene) / DAY,
      ...{ kills: scene.kills, restores: scene.restores, jumps, ...laws.seen },
    };
  } finally {
    engine.close();
  }
}

const elapsed = ({ clock }: Scene) => clock.mono() / 1000;

function someAsked(random: Seeded): Asked {
  return {
    newDays: random.pick([1, 2, 3]),
    newWindow: random.pick([60, HOUR, 2 * DAY]),
    factor: random.pick([2, 3]),
    atLeast: random.pick([1, 20]),
    hours: random.pick([1, 2, 24]),
    byHost: random.chance(0.5),
    missing: random.pick(["text", "text", "source"]),
    missingLevel: random.pick([0, 300]),
  };
}

/** One that asks for new messages, one for unusual and one for missing ones. */
function rulesOf(asked: Asked): RuleBody[] {
  const rule = { ...defaultRule, ladder: null, max_open: 0 };
  const window = (minutes: number) => ({ ...rule.fire_after, window_minutes: minutes });
  const unusual = { factor: asked.factor, at_least: asked.atLeast };
  const min_level = asked.missingLevel === 0 ? null : asked.missingLevel;
  return [
    {
      ...rule,
      match: { ...rule.match, first_seen_days: asked.newDays },
      fire_after: window(asked.newWindow / 60),
    },
    {
      ...rule,
      match: { ...rule.match, unusual },
      fire_after: window(asked.hours * 60),
      identifier_keys: asked.byHost ? ["host"] : [],
    },
    {
      ...rule,
      match: { ...rule.match, min_level },
      missing: asked.missing === "source" ? { source: "app" } : true,
    },
  ];
}

function streamsOf(engine: Engine, random: Seeded): Stream[] {
  const late = engine.store.write((tx) => {
    const given = { tenantId: "0".repeat(16), name: "late", retainLogs: false };
    return findSource(tx, createSource(tx, getProject(tx, "p"), given).token) as Source;
  });
  return TEXTS.map((text, i) => {
    const every = HOUR * random.pick([2, 3, 3, 4]);
    return {
      ...{ text, every, level: random.pick([400, 400, 200]), host: random.pick(["x", "y"]) },
      source: i === 2 ? late : engine.source,
      n: Math.ceil((every / HOUR) * random.pick([1, 2, 3])),
      next: i === 2 ? random.below(4 * DAY) : random.below(every),
    };
  });
}

function pass({ engine, clock, laws }: Scene, seconds: number): void {
  runUntil(engine, clock, engine.now() + Math.max(0, seconds));
  laws.passed();
}

function come({ engine, laws }: Scene, stream: Stream, n: number): void {
  const { text, source, host, level } = stream;
  const event = { message: text, level, keys: { host }, tags: null };
  laws.comes({ at: engine.now(), text, source: source.name, host, level, n }, () =>
    engine.submit(source, new Array(n).fill(event)),
  );
}

const OFF = [1, 30, 600, 2 * HOUR, 8 * HOUR] as const;

function actOf(scene: Scene): void {
  const { engine, clock, random, laws, streams } = scene;
  const stream = random.pick(streams);
  // What it told is told: somebody resolves it, and it is killed.
  const kind = laws.isMissing() && random.chance(0.3) ? 89 : random.below(100);
  if (kind < 22) {
    // What was said within a minute of other words is what a kill may take.
    for (let left = random.below(3); left >= 0; left--) {
      come(scene, stream, 1 + random.below(stream.n));
      pass(scene, random.pick([1, 20, 45, 70]));
    }
    off(scene, { crash: true, from: null });
  } else if (kind < 30) off(scene, { crash: false, from: null });
  else if (kind < 38) {
    const by = random.pick([90, HOUR, 5 * HOUR]) * random.pick([-1, 1, 1]);
    clock.jump(by);
    engine.look();
    laws.read();
  } else if (kind < 58) {
    // Two weeks in which it comes, and then anything.
    const isLearned = elapsed(scene) > 15 * DAY;
    stream.next += random.pick(isLearned ? [16 * HOUR, 2 * DAY, 4 * DAY] : [0, 0, HOUR / 2]);
  } else if (kind < 70) come(scene, stream, stream.n * random.pick([2, 4, 9]));
  else if (kind < 84) {
    const text = random.pick([...OTHERS, ...TEXTS]);
    come(scene, { ...stream, text }, 1);
    if (random.chance(0.5)) return;
    // The box that starts again knows what was new.
    laws.endAll();
    off(scene, { crash: true, from: null });
    come(scene, { ...stream, text }, 1);
  } else if (kind < 90) {
    laws.endAll();
    off(scene, { crash: true, from: null });
  } else if (kind < 95) laws.backup(`${scene.path}.backup`);
  else if (laws.isBackedUp())
    off(scene, { crash: random.chance(0.5), from: `${scene.path}.backup` });
}

function off(scene: Scene, { crash, from }: { crash: boolean; from: string | null }): void {
  const { engine, random, laws } = scene;
  if (crash) engine.beat();
  const hidden = random.chance(0.1) ? random.below(DAY) : 0;
  laws.passed();
  engine.restart({ seconds: random.pick(OFF) * (1 + random.below(2)), hidden, crash, from });
  if (crash) scene.kills += 1;
  if (from !== null) scene.restores += 1;
  laws.started(from !== null);
  engine.look();
  laws.read();
  laws.passed();
}
