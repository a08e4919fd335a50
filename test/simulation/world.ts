import type { LadderBody } from "../../src/core/projects/ladder.ts";
import type { RuleBody } from "../../src/core/projects/rule.ts";
import { defaultRule } from "../support/plane.ts";
import type { Named } from "./facts.ts";
import type { Seeded } from "./seeded.ts";

/** A schedule simple enough to be read off by division: one layer in UTC. Times in seconds. */
export interface Rota {
  name: string;
  participants: (string | null)[];
  start: number;
  shift: number;
  /** Hours of the UTC day in which it covers; null = all. */
  hours: { from: number; until: number } | null;
  /** How many are on call at once. */
  take: number;
}

/** What one seed plays with. */
export interface World {
  rules: RuleBody[];
  rotas: Rota[];
  /** Ladders of the tenant, by name. */
  ladders: ReadonlyMap<string, LadderBody>;
  /** Who is paged after the last of several passes. */
  fallback: string[];
  /** Length of the story in seconds. */
  horizon: number;
}

export const PEOPLE = ["ann", "bob", "cat", "dan", "eve"] as const;
/** What the lines of each rule say: no two could be one template. */
export const LINES = [
  "alpha is failing",
  "the beta queue overflowed again",
  "gamma took far too long to answer",
];
/** What a line may name at its end. Three of them for one rule show that this varies. */
export const WORDS = ["orders", "stock", "mail", "maps"] as const;
export const MERGED_AT = 3;

export function lineOf(rule: number, word: string): string {
  return `${LINES[rule]} for customer ${word}`;
}

/** 2026-03-02T08:00:00Z, in Unix seconds. */
export const BEGIN = 1_772_438_400;
const DAY = 86_400;

export function makeWorld(random: Seeded): World {
  const rotas = Array.from({ length: 1 + random.below(2) }, (_, i) => makeRota(random, i));
  const ladders = new Map(LADDERS.map((name) => [name, makeLadder(random, rotas)]));
  return {
    rotas,
    ladders,
    fallback: someOf(random, PEOPLE, random.below(3)),
    rules: Array.from({ length: 1 + random.below(LINES.length) }, (_, i) =>
      onLadder(random, ladders, makeRule(random, rotas, i)),
    ),
    horizon: DAY * (2 + random.below(9)),
  };
}

function makeRota(random: Seeded, i: number): Rota {
  const hours = random.chance(0.5)
    ? null
    : { from: random.below(12), until: 13 + random.below(11) };
  const people = someOf(random, PEOPLE, 1 + random.below(3));
  // Some begin only later: until then they reach nobody.
  const start = BEGIN - DAY + random.below(3 * DAY);
  return {
    name: `rota ${i}`,
    // A fifth have a turn of nobody.
    participants: start % 5 === 0 ? [...people, null] : people,
    start,
    shift: random.pick([3600, 5400, 8 * 3600, DAY, 7 * DAY]),
    hours,
    take: Math.min(people.length, [2, 2, 3, 5][start % 11] ?? 1),
  };
}

export function makeRule(random: Seeded, rotas: readonly Rota[], i: number): RuleBody {
  return {
    ...defaultRule,
    match: { ...defaultRule.match, template_contains: LINES[i] as string },
    identifier_keys: ["host"],
    fire_after: {
      count: random.pick([1, 1, 1, 2, 3]),
      distinct_sources: 1,
      window_minutes: random.pick([1, 60, 600, 6000]),
    },
    dedup_window_minutes: random.pick([0, 0, 10, 300]),
    auto_resolve_quiet_minutes: random.pick([0, 0, 60, 1000, 3000]),
    renotify_minutes: random.pick([0, 0, 200, 600, 5000]),
    max_renotify: random.pick([0, 1, 3]),
    for_minutes: random.pick([0, 0, 0, 0, 0, 0, 0, 0, 1, 9, 60, 700]),
    ends_with_source: random.chance(0.8),
    reopen_within_seconds: random.pick([0, 0, 400, 8000, 86_400]),
    escalations: Array.from({ length: random.below(5) }, () => makeStep(random, rotas)),
  };
}

export const LADDERS = ["first line", "night"] as const;

/** Its schedules are named as from outside. */
export function makeLadder(random: Seeded, rotas: readonly Rota[]): LadderBody {
  const passes = random.pick([1, 1, 2, 3]);
  const pause = random.pick([1, 10, 30, 300]);
  return {
    steps: Array.from({ length: random.below(4) }, () => fromOutside(makeStep(random, rotas))),
    passes,
    pass_after_minutes: passes > 1 || random.chance(0.3) ? pause : null,
    team: "",
  };
}

type Step = RuleBody["escalations"][number];

export const fromOutside = ({ schedules, ...step }: Step): Step => ({
  ...step,
  schedules: schedules.map((name) => (name.includes("/") ? name : `p/${name}`)),
});

/** The rule refers to one of these ladders, or keeps its own. */
export function onLadder(
  random: Seeded,
  ladders: World["ladders"],
  { ladder: _, ...rule }: RuleBody,
): RuleBody {
  const names = [...ladders.keys()];
  if (names.length === 0 || random.chance(0.5)) return { ...rule, ladder: null };
  return { ...rule, escalations: [], ladder: random.pick(names) };
}

const NAMES = ["disk", "disk", "link"] as const;

/** A sender's name for an alert. What has an instance, and may be reported again, has a validity like no other. */
export function makeNamed(random: Seeded): Named {
  const instance = random.pick([null, "1", "1", "2", "3"]);
  const lasts = random.pick([90, 130, 900, 4000, 30_000, 2 * DAY]) + random.below(1000);
  const none = instance === null && random.chance(0.5);
  return { key: random.pick(NAMES), instance, lasts: none ? random.pick([null, -60]) : lasts };
}

function makeStep(random: Seeded, rotas: readonly Rota[]): RuleBody["escalations"][number] {
  const byRota = random.chance(0.5);
  return {
    accounts: random.chance(0.6) ? someOf(random, PEOPLE, random.below(3)) : [],
    schedules: byRota ? [random.pick(rotas).name] : [],
    after_minutes: random.pick([0, 0, 5, 10, 10, 30, 60, 240, 2000]),
    repeat_minutes: random.pick([0, 0, 45, 240, 480, 1440]),
  };
}

function someOf<T>(random: Seeded, list: readonly T[], n: number): T[] {
  const left = [...list];
  return Array.from({ length: n }, () => left.splice(random.below(left.length), 1)[0] as T);
}
