import { hash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore, type Store } from "../../src/ground/store/store.ts";
import { memoryOrTemp } from "../support/memory.ts";
import { nextAct } from "./acts.ts";
import { check } from "./check.ts";
import { type Engine, machine, startEngine } from "./engine.ts";
import type { LogEvent } from "./facts.ts";
import { labelFaults } from "./labels.ts";
import { runUntil } from "./loop.ts";
import { numbersOfStory } from "./numbers.ts";
import { type Expected, reference } from "./reference.ts";
import { seeded } from "./seeded.ts";
import { BEGIN, makeWorld } from "./world.ts";

/** Fewer stories than these may be tame by chance: then only their laws are judged. */
export const WORTH_TELLING = 5;

export interface Story {
  /** Sentences about every law that was broken; empty is what is wanted. */
  faults: string[];
  /** SHA-256 over every event, every line of history and every alert, byte for byte. */
  log: string;
  simulatedSeconds: number;
  events: number;
  restarts: number;
  jumps: number;
  /** Ends for want of a report, alerts that were opened again, reports that told nobody anything. */
  stale: number;
  reopened: number;
  repeats: number;
  /** Ladders that ended with their rule. */
  orphans: number;
  /** Alerts that followed the change of a ladder that they share; fallbacks after the last pass. */
  followed: number;
  lastResorts: number;
}

/** A place for the files of many stories, one after another. */
export interface Stage {
  play(seed: number): Story;
  close(): void;
}

export function openStage(): Stage {
  const files = openFiles();
  return { play: (seed) => play(seed, files.fresh()), close: files.close };
}

/** Files for one story after another: `fresh` gives the path of an empty box's. */
export interface Files {
  fresh(): string;
  close(): void;
}

export function openFiles(): Files {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-sim-"));
  const fresh = join(directory, "fresh.db");
  const path = join(directory, "box.db");
  openStore({ path: fresh, kind: "box", clock: machine(), random: systemRandom }).close();
  return {
    fresh() {
      for (const end of ["", "-wal", "-shm"]) if (existsSync(path + end)) rmSync(path + end);
      copyFileSync(fresh, path);
      return path;
    },
    close: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function play(seed: number, path: string): Story {
  const random = seeded(seed);
  const world = makeWorld(random);
  const clock = machine();
  const engine = startEngine({ path, world, machine: clock, random });
  const began = clock.mono();
  const until = clock.mono() + world.horizon * 1000;
  const numbers = numbersOfStory(seed);
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
      numbers.read(engine.store);
    }
    runUntil(engine, clock, engine.now());
    const story = judge({ engine, world, seconds: (clock.mono() - began) / 1000 });
    story.faults.push(...numbers.faults(engine.store));
    return story;
  } finally {
    engine.close();
  }
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
    ...endings(store, expected.endings),
    ...labelFaults(store, expected.alerts),
    ...check({ store, world, log, facts, climbs: expected.climbs, now: engine.now() }),
  ];
  const count = (what: string) => facts.filter((fact) => fact.what === what).length;
  return {
    faults,
    log: hash("sha256", JSON.stringify([bodies, history, rows])),
    simulatedSeconds: seconds,
    events: log.length,
    restarts: count("started") - 1,
    jumps: count("jumped"),
    stale: expected.endings.filter((ended) => ended?.by === "stale").length,
    reopened: store
      .sql("SELECT count(*) FROM timeline WHERE kind = 'reopened'")
      .pluck()
      .get() as number,
    repeats: expected.repeats,
    followed: expected.followed,
    lastResorts: store
      .sql("SELECT count(*) FROM timeline WHERE kind = 'fallback'")
      .pluck()
      .get() as number,
    orphans: facts.reduce((n, fact) => n + (fact.what === "dropped" ? fact.ends.length : 0), 0),
  };
}

/** Alerts that ended otherwise than they must have. */
function endings(store: Store, expected: Expected["endings"]): string[] {
  const reason = store
    .sql(
      `SELECT coalesce(json_extract(detail, '$.reason'), json_extract(detail, '$.by'), 'person') FROM timeline
       WHERE alert_id = ? AND kind = 'resolved' ORDER BY id DESC LIMIT 1`,
    )
    .pluck();
  return expected.flatMap((ended, i) => {
    const was = ended === null ? null : reason.get(i + 1);
    return was === (ended?.by ?? null)
      ? []
      : [`alert ${i + 1} ended by ${was}, must by ${ended?.by}`];
  });
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
