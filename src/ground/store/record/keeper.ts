import { type Clock, sleep } from "../../kit/clock.ts";
import type { DurableGate } from "../../kit/gate.ts";
import { StoreFault } from "../faults.ts";
import { type Collector, createCollector, type OpenedStore } from "./collector.ts";
import { compare, endAfter, Interrupted } from "./compare.ts";
import { type PageRecord, type RecordEnd, RecordFault } from "./record.ts";
import { createScrub, type Scrub } from "./scrub.ts";
import {
  atFirst,
  type BothClocks,
  isGivenUp,
  isSure as isSureIn,
  type StandingEvent,
  standingAfter,
  TICK_MS,
} from "./standing.ts";
import { createPageSums, PAGE, type PageSums } from "./sums.ts";
import type { Unconfirmed } from "./unconfirmed.ts";

/** Why all pages were compared. "scrub": one on the disk isn't what was kept, and the place hasn't got it either. */
type Why = "start" | "gap" | "scrub" | "behind";

/** A state of the place: its latest commit, and the sums of its pages. */
export interface MadeOf {
  seq: number;
  sums: PageSums;
}

interface KeeperState {
  /** Since when this disk alone has to be enough, by the monotonic clock; null: it hasn't. */
  aloneSince: number | null;
  /** Nobody hears anything, because the place doesn't answer. */
  isStopped: boolean;
  /** Why the place doesn't keep anything; null while it does. */
  fault: string | null;
  /** Pages of commits that aren't kept yet. */
  waiting: number;
  kept: number;
  /** The place has everything up to this commit. */
  keptUpTo: number;
  aloneMs: number;
  compared: Readonly<Record<Why, number>>;
  /** Pages that the disk had changed, and that were put back; and when the latest was, by the monotonic clock. */
  putBack: number;
  putBackAt: number | null;
}

/** Keeps every commit of a store in a second place, before anybody hears of it. */
export interface Keeper {
  opened(store: OpenedStore): void;
  /** Called directly after each COMMIT, with its number. */
  committed(seq: number): void;
  durable: DurableGate;
  /** The number of the latest commit. */
  latest(): number;
  /**
   * Before something is told that this disk alone has: it is noted, to be handed over to whoever takes the store. false:
   * there is no room for that, another machine may take the store meanwhile, and so it mustn't be told.
   */
  note(commit: number, what: () => readonly object[]): boolean;
  /** This disk alone has what is committed, and another machine may take the store meanwhile. */
  isInDoubt(): boolean;
  /** Resolves when the place has everything; `orAlone`: also when this disk alone has to be enough. */
  ready(orAlone: boolean): Promise<void>;
  state(): KeeperState;
  /** After the store was closed: keeps the rest, and leaves. */
  stop(): Promise<void>;
}

export interface KeeperOptions {
  clock: Clock;
  record: PageRecord;
  /** The store isn't ours any more: the process has to end. */
  onLost(fault: StoreFault): void;
  /** The place doesn't answer, with why; null: it answers again. */
  onAlone(why: string | null): void;
  onCompared(why: Why, pages: number): void;
  /** The disk had changed a page; whether it was put back. */
  onRotten(page: number, isBack: boolean): void;
  /** Whether other machines stand by. */
  hasOthers(): boolean;
  /** What the place had when the file was made of its pages, asked when the store is opened. Default: it wasn't. */
  madeOf?(): MadeOf | null;
  /** What is told while this disk alone has it. null: it never is, and a store whose place doesn't answer is given up. */
  unconfirmed: Unconfirmed | null;
  /** While the place doesn't answer nobody hears anything, but the store isn't given up either. */
  waits?: boolean;
  /** Says that it lives at the same moments as the others of this process, so that they can do it together. */
  inStep?: boolean;
}

const RENEW_TICKS = 8;
const AGAIN_MS = 1_000;
const LEAVE_MS = 5_000;

export function createKeeper(options: KeeperOptions): Keeper {
  const { clock, record } = options;
  let collector: Collector | null = null;
  let sums = createPageSums();
  let why: Why = "start";
  let isTaken = false;
  /** Under way, or to be asked again. */
  let batch: RecordEnd | null = null;
  /** Pages are compared, and what is committed now "goes" with them or "comes" later. */
  let comparing: "no" | "goes" | "comes" = "no";
  let [isEnding, isOver] = [false, false];
  let fault: string | null = null;
  let [idle, latest, keptUpTo] = [0, 0, 0];
  const moment = (): BothClocks => ({ mono: clock.mono(), now: clock.now() });
  let asked = moment();
  let stands = { ...atFirst, goesOn: options.unconfirmed !== null && !options.waits };
  let ended: Promise<void> | null = null;
  let scrub: Scrub | null = null;
  const compared = { start: 0, gap: 0, scrub: 0, behind: 0 };
  const counts = { kept: 0, aloneMs: 0, compared };
  const underWay: PromiseWithResolvers<void>[] = [];
  let next = quiet();
  let wake = quiet();
  const [first, firstKept] = [quiet(), quiet()];

  /** What those in step count by: each whole one is a tick of all of them. */
  const beat = () => (options.inStep === true ? clock.mono() / TICK_MS : 0);
  /** Of those until the next renewal, how many are over. */
  const begun = () => Math.round(beat()) % RENEW_TICKS;
  const untilTick = () => TICK_MS * (1 + Math.round(beat()) - beat());
  const isWaiting = () => collector !== null && (collector.isGap || collector.waiting > 0);
  const isSure = () => isSureIn(stands, moment());
  const isAlone = () => stands.aloneSince !== null;
  const isQuiet = () => isTaken && !isWaiting() && batch === null && comparing === "no";
  const taken = () => {
    underWay.push(next);
    next = quiet();
  };
  const tell = () => {
    for (const one of underWay.splice(0)) one.resolve();
    first.resolve();
  };
  const happens = (event: StandingEvent) => {
    const { aloneSince: before } = stands;
    stands = standingAfter(stands, event, moment());
    if (before === stands.aloneSince) return;
    if (before !== null) {
      counts.aloneMs += clock.mono() - before;
      return options.onAlone(null);
    }
    options.onAlone(fault ?? "no answer");
    taken();
    tell();
  };
  const heard = () => {
    happens({ is: "heard" });
    fault = null;
  };
  const isBack = () => {
    options.unconfirmed?.kept(keptUpTo);
    happens({ is: "kept", asked });
    if (!isSure()) return;
    tell();
    firstKept.resolve();
  };

  const ship = async (from: Collector) => {
    if (batch === null) {
      taken();
      batch = endAfter(from.take(), sums);
    }
    const { seq } = batch;
    const isKept = await record.keep(batch);
    batch = null;
    if (isKept) {
      counts.kept++;
      keptUpTo = seq;
    }
    confirm(from, isKept);
  };
  const confirm = (from: Collector, isKept: boolean) => {
    if (isKept) return isBack();
    why = "behind";
    from.missed();
  };
  /** Pages of a large store are read, or wait for their turn to be written, for longer than it lives without a word. */
  const renews = async (begun: AbortSignal) => {
    for (;;) {
      await sleep(clock, RENEW_TICKS * TICK_MS, begun);
      if (begun.aborted) return;
      // One that may go on alone doesn't wait until all is read. Without an answer all goes on: what is written asks again.
      await record.renew().then(
        () => stands.goesOn || heard(),
        (error) => isLoss(error) && Promise.reject(error),
      );
    }
  };
  const compareAll = async (from: Collector) => {
    batch = null;
    comparing = "goes";
    const begun = new AbortController();
    const calls = {
      heard,
      begins: () => begun.abort(),
      taken() {
        comparing = "comes";
        asked = moment();
        taken();
      },
    };
    try {
      const comparison = compare(from, record, calls).finally(calls.begins);
      const [{ sums: found, written, seq }] = await Promise.all([comparison, renews(begun.signal)]);
      [sums, keptUpTo] = [found, seq];
      counts.compared[why]++;
      options.onCompared(why, written);
      why = "gap";
      isBack();
    } catch (error) {
      from.missed();
      if (!(error instanceof Interrupted)) throw error;
    } finally {
      comparing = "no";
    }
  };
  const mendDisk = async (from: Collector, found: Scrub) => {
    if (await found.mend()) return;
    why = "scrub";
    from.missed();
  };
  const step = async (from: Collector) => {
    asked = moment();
    if (!isTaken) await record.take();
    isTaken = true;
    if (from.isGap) await compareAll(from);
    else if (batch !== null || from.waiting > 0) await ship(from);
    else if (scrub?.hasFound() && isSure()) await mendDisk(from, scrub);
    else confirm(from, await record.renew());
    heard();
    idle = isSure() ? begun() : RENEW_TICKS;
  };
  const run = async (from: Collector) => {
    while (!isOver && !(isEnding && (isQuiet() || isAlone()))) {
      if (isQuiet() && !scrub?.hasFound() && idle < RENEW_TICKS && fault === null) {
        await wake.promise;
        wake = quiet();
        continue;
      }
      try {
        await step(from);
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        if (isLoss(error)) return lost(fault);
        await sleep(clock, AGAIN_MS);
      }
    }
  };
  const lost = (message: string) => {
    if (isOver) return;
    [isEnding, isOver] = [true, true];
    // Started again, it finds who has the store.
    const gone = new StoreFault("unavailable", message);
    const never = quiet();
    ended = never.promise;
    for (const one of [...underWay, next, first, firstKept, never]) one.reject(gone);
    options.onLost(gone);
  };

  const tick = (from: Collector) => {
    if (isEnding) return;
    clock.after(untilTick(), () => tick(from));
    if (isQuiet() && !scrub?.hasFound() && fault === null) scrub?.look();
    happens({ is: "tick", waits: !isQuiet() || fault !== null || ++idle > RENEW_TICKS });
    if (!options.waits && isGivenUp(stands))
      lost(`it is given up: ${fault ?? "the database doesn't answer"}`);
    wake.resolve();
  };

  let running: Promise<void> = Promise.resolve();
  return {
    opened(store) {
      if (store.db.pragma("page_size", { simple: true }) !== PAGE)
        throw new StoreFault(
          "misconfigured",
          `${store.path} has pages of another size than ${PAGE}.`,
        );
      const from = createCollector(store);
      collector = from;
      scrub = createScrub({ ...options, from, sums: () => sums });
      const made = options.madeOf?.() ?? null;
      if (made !== null && from.goesOn(made.sums)) {
        why = "gap";
        sums = made.sums;
        latest = made.seq;
        keptUpTo = made.seq;
      }
      running = run(from);
      tick(from);
    },
    committed(seq) {
      latest = seq;
      try {
        collector?.collect(seq);
      } catch {
        // The commit stands. What couldn't be read is found by comparing.
        collector?.missed();
      }
      wake.resolve();
    },
    durable() {
      if (ended !== null) return ended;
      if (isAlone()) return null;
      if (isWaiting() || comparing === "goes") return next.promise;
      if (isQuiet() && isSure()) return null;
      if (isQuiet()) idle = RENEW_TICKS;
      wake.resolve();
      if (underWay.length === 0) underWay.push(quiet());
      return underWay.at(-1)?.promise ?? null;
    },
    latest: () => latest,
    note: (commit, what) =>
      !isAlone() || options.unconfirmed?.note(commit, what()) || !options.hasOthers(),
    isInDoubt: () => isAlone() && options.hasOthers(),
    ready: (orAlone) => (orAlone ? first : firstKept).promise,
    state: () => ({
      ...counts,
      keptUpTo,
      putBack: scrub?.putBack().pages ?? 0,
      putBackAt: scrub?.putBack().at ?? null,
      aloneSince: stands.aloneSince,
      isStopped: !stands.goesOn && isTaken && !isSure(),
      fault,
      waiting: (collector?.waiting ?? 0) + (batch?.pages.length ?? 0),
    }),
    async stop() {
      isEnding = true;
      wake.resolve();
      const over = new AbortController();
      const leaves = running.then(() => (isAlone() ? undefined : record.leave(collector !== null)));
      await Promise.race([leaves.catch(() => {}), sleep(clock, LEAVE_MS, over.signal)]);
      over.abort();
      isOver = true;
      collector?.close();
    },
  };
}

const isLoss = (error: unknown) => error instanceof RecordFault && error.kind === "taken";

/** A promise that may be rejected although nobody waits for it. */
function quiet(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => {});
  return made;
}
