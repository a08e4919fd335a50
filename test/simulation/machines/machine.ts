import { isLatest, type Lying, mayTakeBox } from "../../../src/app/box-found.ts";
import { newMark } from "../../../src/ground/store/record/mark.ts";
import {
  atFirst,
  isSure,
  notTaken,
  standingAfter,
  TICK_MS,
  toHandOver,
} from "../../../src/ground/store/record/standing.ts";
import type { FoundStore } from "../../../src/hosted/record/taking.ts";
import type { Seeded } from "../seeded.ts";
import {
  type Commit,
  type Commits,
  type Fate,
  type ModelDatabase,
  NoAnswer,
  numberOf,
  Taken,
} from "./database.ts";

/** What is done wrong on purpose, so that the stories can be seen to find it. */
export const PLANTED = [
  "all is handed over",
  "what waited at the gate isn't noted",
  "dropped before all is kept",
  "dropped before it is handed over",
  "the epoch is noted after the first keeping",
  "taken without a mark",
  "forgotten before it is kept",
  "what was handed over is noted, too",
  "an answer by this disk isn't noted",
] as const;
export type Planted = (typeof PLANTED)[number];

interface Line {
  commit: number;
  event: string;
}

/** What is on a machine's disk. */
interface Disk {
  store: Commits | null;
  mark: Lying["mark"];
  told: { id: string; lines: Line[] } | null;
}

interface Waiter {
  event: string;
  commit: number;
  until: number;
}

type Work = Generator<void, void, void>;

export interface World {
  clock: { ms: number };
  database: ModelDatabase;
  random: Seeded;
  /** How the next call of this machine goes. */
  fate(): Fate;
  answered(event: string): void;
  planted: Planted | null;
}

/** As `createKeeper`, `openBoxRecord` and `standBy` say it: their times, their order, and the same decisions. */
const AWAY_TICKS = 30_000 / TICK_MS;
const ASKED_TICKS = 4_000 / TICK_MS;
const SECOND = 1_000 / TICK_MS;
const ANSWER_MS = 5_000;

export function createMachine(node: string, world: World) {
  const { clock, database, random, planted } = world;
  const disk: Disk = { store: null, mark: null, told: null };
  let works: Work[] = [];
  let serving: { run: string; commit(events: string[], taken?: Commit["taken"]): number } | null =
    null;
  let waiters: Waiter[] = [];
  let stands = atFirst;
  let runs = 0;
  const moment = () => ({ mono: clock.ms, now: clock.ms });
  const note = (change: Partial<NonNullable<Lying["mark"]>>) => {
    disk.mark = { ...(disk.mark ?? newMark), ...change };
  };
  /** Asks the database once; an answer that doesn't come is waited for. */
  function* ask<T>(does: () => T): Generator<void, T, void> {
    const fate = world.fate();
    if (fate === "away" || fate === "lost") {
      if (fate === "lost") does();
      for (let i = random.below(ASKED_TICKS); i >= 0; i--) yield;
      throw new NoAnswer();
    }
    yield;
    return does();
  }
  function* asked<T>(does: () => T): Generator<void, T, void> {
    for (;;) {
      try {
        return yield* ask(does);
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
        yield* pause(SECOND);
      }
    }
  }
  function* pause(ticks: number): Work {
    for (let i = 0; i < ticks; i++) yield;
  }
  const tell = (isTold: (waiter: Waiter) => boolean) => {
    for (const { event } of waiters.filter(isTold)) world.answered(event);
    waiters = waiters.filter((one) => !isTold(one));
  };
  const remember = (line: Line) => {
    if (planted === "an answer by this disk isn't noted") return;
    disk.told ??= { id: `${node}${clock.ms}`, lines: [] };
    disk.told.lines.push(line);
  };
  const tellAlone = () => {
    if (planted !== "what waited at the gate isn't noted") for (const one of waiters) remember(one);
    tell(() => true);
  };

  function* handOver(found: FoundStore): Work {
    const { told } = disk;
    if (told === null) return;
    const ended = yield* asked(() => database.endOf(disk.mark?.epoch ?? 0));
    const all = planted === "all is handed over" ? 0 : ended;
    const rows = toHandOver(told.lines, Math.min(all, found.seq)).map(({ event }, i) => ({
      id: told.id,
      n: i + 1,
      event,
    }));
    if (planted === "dropped before it is handed over") disk.told = null;
    yield* asked(() => database.hand(rows));
    yield;
    disk.told = null;
  }

  function* start(run: string): Work {
    const lying: Lying = {
      local: disk.store && { tenantId: "t", commits: numberOf(disk.store) },
      mark: disk.mark,
    };
    const maySkip = disk.mark?.kept === true && !disk.mark.isOlder && disk.store !== null;
    let found: FoundStore | null = null;
    for (let ticks = 0; found === null; ticks++) {
      if (maySkip && ticks > AWAY_TICKS / SECOND) break;
      try {
        found = yield* ask(() => database.found());
      } catch {
        yield* pause(SECOND);
      }
    }
    const isOlder = found !== null && found.epoch > 0 && !isLatest(found, lying);
    const earlier = disk.mark?.runs ?? [];
    note({ runs: [...earlier, run], isOlder });
    if (found === null || found.epoch === 0) return yield* own(run, earlier, found);
    if (isOlder) yield* handOver(found);
    if (earlier.includes(found.run) || found.clean) {
      const epoch = yield* asked(() => take(run, earlier, found));
      if (planted !== "the epoch is noted after the first keeping") note({ epoch });
      if (isOlder) replace();
      return yield* own(run, earlier, found);
    }
    note({ kept: true, isOlder: true });
    yield* standBy(run, earlier);
  }
  const take = (run: string, earlier: readonly string[], found: FoundStore | null) =>
    database.take(node, run, {
      epoch: found?.epoch ?? 0,
      isOwn: earlier.includes(database.found().run),
    });
  const replace = () => {
    disk.store = database.pages();
    note({ isOlder: false });
  };
  function* standBy(run: string, earlier: readonly string[]): Work {
    for (let heard = 0; ; ) {
      try {
        const found = yield* ask(() => database.standBy(node));
        heard += SECOND;
        const by = { run, heardMs: heard * TICK_MS, isFresh: true, mayServe: () => true };
        if (mayTakeBox(found, by)) {
          const epoch = yield* ask(() => take(run, earlier, found));
          note({ epoch });
          database.standsNoMore(node);
          yield;
          replace();
          return yield* own(run, earlier, found);
        }
      } catch (error) {
        if (error instanceof NoAnswer) heard = 0;
        else if (!(error instanceof Taken)) throw error;
      }
      yield* pause(SECOND);
    }
  }

  function* own(run: string, earlier: readonly string[], found: FoundStore | null): Work {
    stands = atFirst;
    disk.store ??= [];
    const commit = (events: string[], taken?: Commit["taken"]): number => {
      const n = numberOf(disk.store ?? []) + 1;
      disk.store = [...(disk.store ?? []), { n, events, ...(taken && { taken }) }];
      return n;
    };
    let latest: number | null = null;
    let kept = 0;
    let epoch = null as number | null;
    serving = { run, commit };
    works.push(
      ticking(),
      taking(() => epoch !== null && kept),
    );
    for (let idle = 0; ; idle++) {
      yield;
      const store = disk.store ?? [];
      if (latest !== null && numberOf(store) === latest && idle < 8 && isSure(stands, moment()))
        continue;
      idle = 0;
      const at = moment();
      try {
        if (epoch === null) epoch = yield* ask(() => take(run, earlier, found));
        const ours = epoch;
        if (planted !== "the epoch is noted after the first keeping") note({ epoch });
        const seq = numberOf(store);
        const to: { store: Commits; latest: number | null } = { store, latest };
        if (latest === null) commit([]);
        const end: Commits = latest === null ? (disk.store ?? []) : store;
        const isKept: boolean =
          latest !== null && latest === seq
            ? (yield* ask(() => database.renew(run, ours))) === seq
            : yield* ask((): boolean => database.keep(run, ours, { ...to, store: end }));
        note({ epoch, runs: [run], kept: true });
        latest = isKept ? numberOf(end) : null;
        stands = standingAfter(stands, { is: "heard" }, moment());
        if (!isKept) continue;
        const before = stands.aloneSince;
        stands = standingAfter(stands, { is: "kept", asked: at }, moment());
        kept = numberOf(end);
        const most = Math.max(0, ...(disk.told?.lines.map((line) => line.commit) ?? []));
        const early = planted === "dropped before all is kept" && before !== null;
        if (early || most <= kept) disk.told = null;
        if (isSure(stands, moment())) tell((waiter) => waiter.commit <= kept);
      } catch (error) {
        if (error instanceof Taken) return stop();
        if (!(error instanceof NoAnswer)) throw error;
        yield* pause(SECOND);
      }
    }
  }
  function* ticking(): Work {
    for (;;) {
      yield;
      const waits = waiters.length > 0 || !isSure(stands, moment());
      stands = standingAfter(stands, { is: "tick", waits }, moment());
      if (stands.aloneSince !== null) tellAlone();
      waiters = waiters.filter(({ until }) => until > clock.ms);
    }
  }
  /** Takes what another machine handed over. */
  function* taking(keptUpTo: () => number | false): Work {
    for (;;) {
      yield* pause(2 * SECOND);
      if (stands.aloneSince !== null || !isSure(stands, moment())) continue;
      try {
        const rows = yield* ask(() => database.rows());
        for (const id of new Set(rows.map((row) => row.id))) {
          const marks = (disk.store ?? []).flatMap(({ taken }) =>
            taken?.id === id ? [taken.n] : [],
          );
          const last = planted === "taken without a mark" ? 0 : (marks.at(-1) ?? 0);
          const of = rows.filter((row) => row.id === id);
          const fresh = notTaken(of, last);
          const upTo = Math.max(...of.map(({ n }) => n));
          if (fresh.length > 0) {
            const commit =
              serving?.commit(
                fresh.map(({ event }) => event),
                { id, n: upTo },
              ) ?? 0;
            if (planted === "what was handed over is noted, too")
              for (const { event } of fresh) waiters.push({ event, commit, until: Infinity });
          }
          const needed = numberOf(disk.store ?? []);
          if (planted !== "forgotten before it is kept")
            while (Number(keptUpTo()) < needed || !isSure(stands, moment())) yield;
          yield* ask(() => database.forget(id, upTo));
        }
      } catch (error) {
        if (!(error instanceof NoAnswer)) throw error;
      }
    }
  }
  const stop = () => {
    works = [];
    waiters = [];
    serving = null;
  };

  return {
    node,
    disk,
    isRunning: () => works.length > 0,
    isServing: () => serving !== null,
    isAlone: () => serving !== null && stands.aloneSince !== null,
    start() {
      if (works.length === 0) works = [start(`${node}${++runs}`)];
    },
    kill: stop,
    /** An event comes; whether anybody takes it. */
    comes(event: string): boolean {
      if (serving === null) return false;
      const commit = serving.commit([event]);
      if (stands.aloneSince !== null) {
        remember({ commit, event });
        world.answered(event);
      } else waiters.push({ event, commit, until: clock.ms + ANSWER_MS });
      return true;
    },
    tick() {
      const round = works;
      for (const work of round) {
        // It ended in this round.
        if (!works.includes(work)) continue;
        let isDone: boolean | undefined;
        try {
          isDone = work.next().done;
        } catch (error) {
          // It ends, and is started again.
          if (!(error instanceof Taken)) throw error;
          stop();
          return;
        }
        if (isDone) works = works.filter((one) => one !== work);
      }
    },
  };
}
