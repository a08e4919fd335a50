import type { RuleBody } from "../../src/core/projects/rule.ts";
import type { Engine, machine } from "./engine.ts";
import { runUntil } from "./loop.ts";
import type { Seeded } from "./seeded.ts";
import { keepsReporting, sendersWord } from "./senders.ts";
import { shareAct } from "./sharing.ts";
import { makeNamed, makeRule, PEOPLE, WORDS, type World } from "./world.ts";

const DAY = 86_400;
/** Something that happens to a box. */
export interface Act {
  /** Seconds from now. */
  wait: number;
  act(engine: Engine, clock: ReturnType<typeof machine>): void;
}

const HOUR = 3600;
const WAITS = [1, 60, HOUR, 5 * HOUR, 12 * HOUR, 2 * DAY] as const;
const REPORTED_AFTER = [1, 15, 20, 50, 60, 1000] as const;

/** What happens next, and when. */
export function nextAct(random: Seeded, engine: Engine, world: World): Act {
  const due = engine.nextLook();
  const kind = random.below(226);
  // Often at the very second at which something is due, or beside it. A sender reports soon or not at all.
  const wait =
    due !== null && random.chance(0.3)
      ? Math.max(0, due - engine.now() + random.pick([-1, 0, 0, 0, 1]))
      : random.pick(kind < 110 || kind >= 170 ? WAITS : REPORTED_AFTER) * (1 + random.below(3));
  return { wait, act: (e, clock) => actOf(kind, random, world)(e, clock) };
}

function actOf(kind: number, random: Seeded, world: World): Act["act"] {
  if (kind < 45) return (engine) => fire(engine, random);
  if (kind < 60) return (engine) => onSome(engine, random, (id) => engine.ack(id));
  if (kind < 75) return (engine) => onSome(engine, random, (id) => engine.resolve(id));
  if (kind < 87)
    return (engine, clock) => {
      clock.jump(someJump(random));
      // Something may happen before the loop has seen the jump.
      if (random.chance(0.4)) fire(engine, random);
      if (random.chance(0.2)) onSome(engine, random, (id) => engine.ack(id));
      engine.look();
    };
  if (kind < 98) return (engine, clock) => restart(engine, clock, random);
  if (kind < 100) return (engine) => engine.remove(random.pick(PEOPLE));
  if (kind < 102) return (engine) => void engine.rename(random.below(world.rules.length));
  if (kind < 104) return (engine) => void engine.drop(random.below(world.rules.length));
  if (kind < 110) return (engine) => change(engine, random, world);
  if (kind < 150) return (engine) => sendersWord(engine, random);
  if (kind >= 222) return (engine) => void engine.drop(random.below(world.rules.length));
  if (kind >= 196) return (engine, clock) => shareAct(engine, clock, { random, world });
  if (kind >= 176) return (engine, clock) => takenFor(engine, clock, { random, world });
  if (kind >= 170) return (engine) => takeBack(engine, random);
  return (engine, clock) => {
    keepsReporting(engine, clock, random);
    if (random.chance(0.3)) restart(engine, clock, random);
  };
}

/** Somebody edits a rule, its ladder most of all, while alerts may be open, or makes it again. Nobody who is gone can be named. */
export function change(engine: Engine, random: Seeded, world: World): void {
  const rule = random.below(world.rules.length);
  const now = engine.rules[rule] ?? null;
  const { escalations: other, ...rest } = makeRule(random, world.rotas, rule);
  const own = edited(random, now?.escalations ?? [], other).map((step) => stillThere(engine, step));
  const rewritten = now === null || random.chance(0.3) ? rest : now;
  const body = random.chance(0.5)
    ? { ...rewritten, escalations: own, ladder: null }
    : referring(engine, random, { ...rewritten, escalations: own, ladder: now?.ladder });
  if (now === null) engine.add(rule, { ...body, ladder: body.ladder ?? null });
  else engine.rule(rule, body);
}

type Step = RuleBody["escalations"][number];

const goneFrom = ({ facts }: Engine) =>
  new Set(facts.flatMap((fact) => (fact.what === "removed" ? [fact.account] : [])));

export function stillThere(engine: Engine, step: Step): Step {
  const gone = goneFrom(engine);
  return { ...step, accounts: step.accounts.filter((account) => !gone.has(account)) };
}

/** The rule refers to a ladder of which nobody is gone, or has its steps as its own, as whoever knows no ladders writes them. */
function referring(engine: Engine, random: Seeded, body: RuleBody): RuleBody {
  const gone = goneFrom(engine);
  const whole = [...engine.ladders.shared].filter(([, { steps }]) =>
    steps.every(({ accounts }) => !accounts.some((account) => gone.has(account))),
  );
  const [name, ladder] = random.pick(whole) ?? [];
  if (name === undefined || ladder === undefined) return { ...body, ladder: null };
  if (random.chance(0.6)) return { ...body, escalations: [], ladder: name };
  const { ladder: _, ...unaware } = body;
  return { ...unaware, escalations: ladder.steps };
}

/** Another ladder, or the same with one step more, fewer or moved. */
export function edited(
  random: Seeded,
  before: RuleBody["escalations"],
  other: RuleBody["escalations"],
): RuleBody["escalations"] {
  if (before.length === 0 || random.chance(0.3)) return other;
  const at = random.below(before.length);
  const added = random.chance(0.5) ? other.slice(0, 1) : [];
  return before.toSpliced(at, random.below(2), ...added);
}

export function fire(engine: Engine, random: Seeded): void {
  const named = random.chance(0.4) ? makeNamed(random) : null;
  engine.event(
    random.below(engine.rules.length),
    random.pick(["a", "a", "b"]),
    random.pick(WORDS),
    named,
  );
}

export const someJump = (random: Seeded): number =>
  random.pick([-1, 1]) * (3 + random.below(random.pick([60, 7200, 3 * DAY])));

/** Somebody takes what is open and gives it back after a while; the clock may be set, or a rule be edited, meanwhile. */
function takenFor(
  engine: Engine,
  clock: ReturnType<typeof machine>,
  { random, world }: { random: Seeded; world: World },
): void {
  const open = engine.store
    .sql("SELECT id FROM alerts WHERE state = 'open' ORDER BY id")
    .pluck()
    .all() as number[];
  for (const id of open) engine.ack(id);
  runUntil(engine, clock, engine.now() + 1 + random.below(random.pick([60, HOUR, DAY])));
  if (random.chance(0.5)) clock.jump(someJump(random));
  engine.look();
  if (random.chance(0.3)) change(engine, random, world);
  for (const id of open) engine.unack(id);
}

function takeBack(engine: Engine, random: Seeded): void {
  const taken = engine.store
    .sql("SELECT id FROM alerts WHERE state = 'acknowledged' ORDER BY id")
    .pluck()
    .all() as number[];
  if (taken.length > 0) engine.unack(random.pick(taken));
}

export function onSome(engine: Engine, random: Seeded, act: (id: number) => void): void {
  const ids = engine.store.sql("SELECT id FROM alerts ORDER BY id").pluck().all() as number[];
  if (ids.length > 0) act(random.pick(ids.slice(-4)));
}

function restart(engine: Engine, clock: ReturnType<typeof machine>, random: Seeded): void {
  const crash = random.chance(0.5);
  const seconds = random.pick([1, 30, 600, 7200, DAY]) * (1 + random.below(3));
  if (crash) {
    engine.beat();
    runUntil(engine, clock, engine.now() + random.below(10));
  }
  // A machine without a battery comes back with an old time, one with a bad one with any.
  const back = random.chance(0.2) && !crash ? -(seconds + 60 + random.below(5 * DAY)) : 0;
  const hidden = back !== 0 ? back : random.chance(0.1) ? random.below(3 * DAY) : 0;
  engine.restart({ seconds, hidden, crash });
  engine.look();
}
