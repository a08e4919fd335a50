import { hash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemRandom } from "../../src/kit/random.ts";
import type { RuleBody } from "../../src/projects/rule.ts";
import { openStore } from "../../src/store/store.ts";
import { memoryOrTemp } from "../support/plane.ts";
import { check } from "./check.ts";
import { type Engine, machine, startEngine } from "./engine.ts";
import type { LogEvent } from "./facts.ts";
import { reference } from "./reference.ts";
import { type Seeded, seeded } from "./seeded.ts";
import { BEGIN, makeRule, makeWorld, PEOPLE, WORDS, type World } from "./world.ts";

export interface Story {
  /** Sentences about every law that was broken; empty is what is wanted. */
  faults: string[];
  /** SHA-256 over every event, every line of history and every alert, byte for byte. */
  log: string;
  simulatedSeconds: number;
  events: number;
  restarts: number;
  jumps: number;
}

/** A place for the files of many stories, one after another. */
export interface Stage {
  play(seed: number): Story;
  close(): void;
}

export function openStage(): Stage {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-sim-"));
  const fresh = join(directory, "fresh.db");
  const path = join(directory, "box.db");
  openStore({ path: fresh, kind: "box", clock: machine(), random: systemRandom }).close();
  return {
    play(seed) {
      for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) rmSync(path + end);
      copyFileSync(fresh, path);
      return play(seed, path);
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

const DAY = 86_400;

function play(seed: number, path: string): Story {
  const random = seeded(seed);
  const world = makeWorld(random);
  const clock = machine();
  const engine = startEngine({ path, world, machine: clock, random });
  const began = clock.mono();
  const until = clock.mono() + world.horizon * 1000;
  try {
    while (clock.mono() < until) {
      const act = nextAct(random, engine, world);
      // The clock is at the act's moment; due work of that same second may come before or after.
      const at = engine.now() + act.wait;
      if (random.chance(0.5)) runUntil(engine, clock, at);
      else {
        runUntil(engine, clock, at - 1);
        clock.pass(at - engine.now());
      }
      act.act(engine, clock);
      if ((engine.nextLook() ?? Infinity) <= engine.now()) engine.look();
    }
    runUntil(engine, clock, engine.now());
    return judge({ engine, world, seconds: (clock.mono() - began) / 1000 });
  } finally {
    engine.close();
  }
}

/** Plays the loop: looks at due work at every time it asks for, up to and with `until`. */
function runUntil(engine: Engine, clock: ReturnType<typeof machine>, until: number): void {
  for (let at = engine.nextLook(); at !== null && at <= until; at = engine.nextLook()) {
    if (at > engine.now()) clock.pass(at - engine.now());
    engine.look();
  }
  if (until > engine.now()) clock.pass(until - engine.now());
}

interface Act {
  /** Seconds from now. */
  wait: number;
  act(engine: Engine, clock: ReturnType<typeof machine>): void;
}

function nextAct(random: Seeded, engine: Engine, world: World): Act {
  const due = engine.nextLook();
  const hour = 3600;
  // Often at the very second at which something is due, or beside it.
  const wait =
    due !== null && random.chance(0.3)
      ? Math.max(0, due - engine.now() + random.pick([-1, 0, 0, 0, 1]))
      : random.pick([1, 60, hour, 5 * hour, 12 * hour, 2 * DAY]) * (1 + random.below(3));
  const kind = random.below(110);
  return { wait, act: (e, clock) => actOf(kind, random, world)(e, clock) };
}

function actOf(kind: number, random: Seeded, world: World): Act["act"] {
  if (kind < 45) return (engine) => fire(engine, random);
  if (kind < 60) return (engine) => onSome(engine, random, (id) => engine.ack(id));
  if (kind < 75) return (engine) => onSome(engine, random, (id) => engine.resolve(id));
  if (kind < 87)
    return (engine, clock) => {
      clock.jump(random.pick([-1, 1]) * (3 + random.below(random.pick([60, 7200, 3 * DAY]))));
      // Something may happen before the loop has seen the jump.
      if (random.chance(0.4)) fire(engine, random);
      if (random.chance(0.2)) onSome(engine, random, (id) => engine.ack(id));
      engine.look();
    };
  if (kind < 98) return (engine, clock) => restart(engine, clock, random);
  if (kind < 100) return (engine) => engine.remove(random.pick(PEOPLE));
  return (engine) => change(engine, random, world);
}

/** Somebody edits a rule, its ladder most of all, while alerts may be open. Nobody who is gone can be named. */
function change(engine: Engine, random: Seeded, world: World): void {
  const rule = random.below(world.rules.length);
  const gone = new Set<string>();
  let now = world.rules[rule] as RuleBody;
  for (const fact of engine.facts) {
    if (fact.what === "ruled" && fact.rule === rule) now = fact.body;
    if (fact.what === "removed") gone.add(fact.account);
  }
  const { escalations: other, ...rest } = makeRule(random, world.rotas, rule);
  const escalations = edited(random, now.escalations, other).map((step) => ({
    ...step,
    accounts: step.accounts.filter((account) => !gone.has(account)),
  }));
  engine.rule(rule, { ...(random.chance(0.3) ? rest : now), escalations });
}

/** Another ladder, or the same with one step more, fewer or moved. */
function edited(
  random: Seeded,
  before: RuleBody["escalations"],
  other: RuleBody["escalations"],
): RuleBody["escalations"] {
  if (before.length === 0 || random.chance(0.3)) return other;
  const at = random.below(before.length);
  const added = random.chance(0.5) ? other.slice(0, 1) : [];
  return before.toSpliced(at, random.below(2), ...added);
}

function fire(engine: Engine, random: Seeded): void {
  const rules = engine.store.sql("SELECT count(*) FROM rules").pluck().get() as number;
  engine.event(random.below(rules), random.pick(["a", "a", "b"]), random.pick(WORDS));
}

function onSome(engine: Engine, random: Seeded, act: (id: number) => void): void {
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

function judge(end: {
  engine: Engine;
  world: ReturnType<typeof makeWorld>;
  seconds: number;
}): Story {
  const { engine, world, seconds } = end;
  const { store, facts, errors } = engine;
  const bodies = store.sql("SELECT body FROM events ORDER BY id").pluck().all() as string[];
  const history = store.sql("SELECT * FROM timeline ORDER BY id").raw().all();
  const rows = store.sql("SELECT * FROM alerts ORDER BY id").all();
  const log: LogEvent[] = bodies
    .map((body) => JSON.parse(body))
    .map(({ alert_id, event, timestamp, escalation_level, page_accounts }) => ({
      alert: Number(alert_id),
      event,
      timestamp,
      level: escalation_level,
      accounts: page_accounts,
    }));
  const expected = reference(world, facts);
  const faults = [
    ...errors.map((error) => `logged: ${JSON.stringify(error)}`),
    ...expected.late,
    ...differences(log, expected.events),
    ...check({ store, world, log, facts, now: engine.now() }),
  ];
  const count = (what: string) => facts.filter((fact) => fact.what === what).length;
  return {
    faults,
    log: hash("sha256", JSON.stringify([bodies, history, rows])),
    simulatedSeconds: seconds,
    events: log.length,
    restarts: count("started") - 1,
    jumps: count("jumped"),
  };
}

/** Alert by alert, where the log first differs from what was expected. */
function differences(log: readonly LogEvent[], expected: readonly LogEvent[]): string[] {
  const of = (events: readonly LogEvent[]) => Map.groupBy(events, ({ alert }) => alert);
  const was = of(log);
  const must = of(expected);
  const faults: string[] = [];
  for (const alert of new Set([...was.keys(), ...must.keys()])) {
    const got = was.get(alert) ?? [];
    const wanted = must.get(alert) ?? [];
    const at = Math.max(got.length, wanted.length);
    for (let i = 0; i < at; i += 1) {
      if (JSON.stringify(got[i]) === JSON.stringify(wanted[i])) continue;
      faults.push(`alert ${alert}, event ${i}: was ${show(got[i])}, must be ${show(wanted[i])}`);
      break;
    }
  }
  return faults;
}

function show(event: LogEvent | undefined): string {
  if (event === undefined) return "nothing";
  const { event: kind, timestamp, level, accounts } = event;
  return `${kind} at +${timestamp - BEGIN} s, level ${level}, [${accounts}]`;
}
