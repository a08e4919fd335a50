import { type Clock, sleep } from "../../kit/clock.ts";
import type { DurableGate } from "../../kit/gate.ts";
import { StoreFault } from "../faults.ts";
import { type Collector, createCollector, type OpenedStore } from "./collector.ts";
import { compare, endAfter, Interrupted } from "./compare.ts";
import { type PageRecord, type RecordEnd, RecordFault } from "./record.ts";
import { createPageSums, PAGE, pageHash } from "./sums.ts";

/** Why all pages were compared. "scrub": one on the disk isn't what was kept, and the place hasn't got it either. */
type Why = "start" | "gap" | "scrub" | "behind";

export interface KeeperState {
  /** Since when this disk alone has to be enough, by the monotonic clock; null: it hasn't. */
  aloneSince: number | null;
  /** Why the place doesn't keep anything; null while it does. */
  fault: string | null;
  /** Pages of commits that aren't kept yet. */
  waiting: number;
  kept: number;
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
  /**
   * This disk alone has what is committed, and another machine may take the store meanwhile: then nobody ever has it.
   * It may ring, but no sender may be told that it was taken.
   */
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
}

/**
 * How long nobody has to hear anything: shorter than what an answer waits at most (`mayTell`). It is counted in ticks, so
 * that a process that stood still asks again before it concludes anything.
 */
const TICK_MS = 250;
const PATIENCE = 18;
const RENEW_TICKS = 8;
/**
 * How long the place's word is believed, from when it was asked: shorter than a process lives there. A process that stood
 * still asks again before it tells or sends anything.
 */
const SURE_MS = 8_000;
const AGAIN_MS = 1_000;
const SCRUBBED = 64;
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
  let aloneSince: number | null = null;
  let [ticks, idle, at] = [0, 0, 0];
  const moment = () => ({ mono: clock.mono(), now: clock.now() });
  let asked = moment();
  /** When was asked what was answered last: the store was ours then. */
  let sure: ReturnType<typeof moment> | null = null;
  let ended: Promise<void> | null = null;
  let rotten: number[] = [];
  let putBackAt: number | null = null;
  const compared = { start: 0, gap: 0, scrub: 0, behind: 0 };
  const counts = { kept: 0, aloneMs: 0, putBack: 0, compared };
  const underWay: PromiseWithResolvers<void>[] = [];
  let next = quiet();
  let wake = quiet();
  const [first, firstKept] = [quiet(), quiet()];

  const isWaiting = () => collector !== null && (collector.isGap || collector.waiting > 0);
  const isSure = () =>
    sure !== null &&
    clock.mono() - sure.mono < SURE_MS &&
    Math.abs(clock.now() - sure.now) < SURE_MS;
  const isQuiet = () => isTaken && !isWaiting() && batch === null && comparing === "no";
  const taken = () => {
    underWay.push(next);
    next = quiet();
  };
  const tell = () => {
    for (const one of underWay.splice(0)) one.resolve();
    first.resolve();
  };
  const heard = () => {
    ticks = 0;
    fault = null;
  };
  const goAlone = () => {
    aloneSince = clock.mono();
    options.onAlone(fault ?? "no answer");
    taken();
    tell();
  };
  const isBack = () => {
    sure = asked;
    if (!isSure()) return;
    tell();
    firstKept.resolve();
    if (aloneSince === null) return;
    counts.aloneMs += clock.mono() - aloneSince;
    aloneSince = null;
    options.onAlone(null);
  };

  const ship = async (from: Collector) => {
    if (batch === null) {
      taken();
      batch = endAfter(from.take(), sums);
    }
    const isKept = await record.keep(batch);
    batch = null;
    if (isKept) counts.kept++;
    confirm(from, isKept);
  };
  const confirm = (from: Collector, isKept: boolean) => {
    if (isKept) return isBack();
    why = "behind";
    from.missed();
  };
  const compareAll = async (from: Collector) => {
    batch = null;
    comparing = "goes";
    const calls = {
      heard,
      taken() {
        comparing = "comes";
        asked = moment();
        taken();
      },
    };
    try {
      const { sums: found, written } = await compare(from, record, calls);
      sums = found;
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
  const step = async (from: Collector) => {
    asked = moment();
    if (!isTaken) await record.take();
    isTaken = true;
    if (from.isGap) await compareAll(from);
    else if (batch !== null || from.waiting > 0) await ship(from);
    else if (rotten.length > 0 && isSure()) await putBack(from, rotten[0] ?? 0);
    else confirm(from, await record.renew());
    heard();
    idle = isSure() ? 0 : RENEW_TICKS;
  };
  const run = async (from: Collector) => {
    while (!isOver && !(isEnding && (isQuiet() || aloneSince !== null))) {
      if (isQuiet() && rotten.length === 0 && idle < RENEW_TICKS && fault === null) {
        await wake.promise;
        wake = quiet();
        continue;
      }
      try {
        await step(from);
      } catch (error) {
        fault = error instanceof Error ? error.message : String(error);
        if (error instanceof RecordFault && error.kind === "taken") return lost(fault);
        await sleep(clock, AGAIN_MS);
      }
    }
  };
  const lost = (message: string) => {
    [isEnding, isOver] = [true, true];
    // Started again, it finds who has the store.
    const gone = new StoreFault("unavailable", message);
    const never = quiet();
    ended = never.promise;
    for (const one of [...underWay, next, never]) one.reject(gone);
    options.onLost(gone);
  };

  const isIt = (page: number, image: Uint8Array) => pageHash(page, image) === sums.of(page);
  const putBack = async (from: Collector, page: number) => {
    const image = await record.read(page);
    rotten = rotten.filter((one) => one !== page);
    if (image !== null && from.putBack(page, image, isIt)) {
      counts.putBack++;
      putBackAt = clock.mono();
      return options.onRotten(page, true);
    }
    // It was written meanwhile, or the place hasn't got it either.
    if (from.rotten([page], isIt).length === 0) return;
    options.onRotten(page, false);
    why = "scrub";
    from.missed();
  };

  /** Looks whether the next few pages on the disk are what was kept. */
  const scrub = (from: Collector) => {
    const pages = Array.from(
      { length: Math.min(SCRUBBED, sums.count) },
      (_, i) => ((at + i) % sums.count) + 1,
    );
    at = pages.at(-1) ?? 0;
    rotten = from.rotten(pages, isIt);
  };
  const tick = (from: Collector) => {
    if (isEnding) return;
    clock.after(TICK_MS, () => tick(from));
    if (isQuiet() && rotten.length === 0 && fault === null) scrub(from);
    if (!isQuiet() || fault !== null || ++idle > RENEW_TICKS) ticks++;
    if (ticks >= PATIENCE && aloneSince === null) goAlone();
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
      running = run(from);
      tick(from);
    },
    committed(seq) {
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
      if (aloneSince !== null) return null;
      if (isWaiting() || comparing === "goes") return next.promise;
      if (isQuiet() && isSure()) return null;
      if (isQuiet()) idle = RENEW_TICKS;
      wake.resolve();
      if (underWay.length === 0) underWay.push(quiet());
      return underWay.at(-1)?.promise ?? null;
    },
    isInDoubt: () => aloneSince !== null && options.hasOthers(),
    ready: (orAlone) => (orAlone ? first : firstKept).promise,
    state: () => ({
      ...counts,
      putBackAt,
      aloneSince,
      fault,
      waiting: (collector?.waiting ?? 0) + (batch?.pages.length ?? 0),
    }),
    async stop() {
      isEnding = true;
      wake.resolve();
      const over = new AbortController();
      const leaves = running.then(() => (aloneSince === null ? record.leave() : undefined));
      await Promise.race([leaves.catch(() => {}), sleep(clock, LEAVE_MS, over.signal)]);
      over.abort();
      isOver = true;
      collector?.close();
    },
  };
}

/** A promise that may be rejected although nobody waits for it. */
function quiet(): PromiseWithResolvers<void> {
  const made = Promise.withResolvers<void>();
  made.promise.catch(() => {});
  return made;
}
