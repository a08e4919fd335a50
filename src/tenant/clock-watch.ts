import { shiftHits } from "../core/alerts/hits.ts";
import { forgiveAlerts, lookAgainAtAll, renewPromises, shiftTimers } from "../core/alerts/many.ts";
import { holdWaiting, shiftWaiting } from "../core/alerts/waiting.ts";
import {
  forgiveShiftChecks,
  lookAtAllShifts,
  shiftShiftChecks,
} from "../core/oncall/shift-checks.ts";
import { shiftSilences } from "../core/quiet/rows.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { Log } from "../ground/kit/log.ts";
import type { SteadyClock } from "../ground/kit/steady-clock.ts";
import { isFatal } from "../ground/store/faults.ts";
import { getMeta, setMeta } from "../ground/store/meta.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { forgiveHeartbeats, shiftHeartbeats } from "../in/heartbeats/clock.ts";
import { noteDowntime } from "../in/ingest/first-seen.ts";
import { forgiveDowntime, shiftOutbox } from "../out/outbox/shift.ts";
import { forgivePages, shiftPages } from "../out/paging/pages.ts";
import type { Job } from "./scheduler.ts";

/** Whether the clock can be trusted, for readiness and for jobs that delete by age. */
interface ClockState {
  /** False while the clock is known to be behind. */
  sane: boolean;
  /** Seconds by which it is behind the latest time that it has shown; 0 when it isn't. */
  behindBy: number;
  /** The latest jump since the start: the time after it, and the seconds. */
  lastJump: { at: number; by: number } | null;
  /** Whether the clock is too uncertain to delete anything by its age. */
  holdsDeletion: boolean;
}

export interface ClockWatch {
  /** Whether due times were adjusted for the time the box was down. Until then no timed job may run. */
  ready(): boolean;
  /** Checks the clock every second. It is the first job, so that the others see its time. */
  job: Job;
  /** When the box started, in Unix seconds of the present clock. */
  upSince(): number;
  state(): ClockState;
  /** Records that the box is up at this moment. */
  stop(): void;
}

/**
 * The service around a tenant, where it goes on while the tenant's store is closed. Such a store wasn't down: it is
 * opened for due work and for requests.
 */
export interface Service {
  /** Unix seconds since which it is up. */
  upSince(): number;
  /** Seconds that it was down since `from` (Unix seconds). */
  downSince(from: number): number;
}

const LOOK_MS = 1000;
/** How often the box records that it is up. After a crash, silences are too long by this at most. */
const BEAT_MS = 10_000;
const BEHIND_SECONDS = 60;
/** After a jump, or a start that makes the time doubtful, nothing is deleted by age for this long. */
const HOLD_MS = 24 * 3_600_000;
/** At a start with a longer gap the clock may be wrong. */
const LONG_DOWN_SECONDS = 7 * 86_400;
/** After a longer gap, the time is taken out of the age of everything that waits to be sent. */
const LONG_GAP_SECONDS = 3600;
/** Differences at a start that mean nothing, because only whole seconds are recorded. */
const START_SECONDS = 2;

/**
 * Adjusts due times for the time the box was down, and from then on compares the system's time with the monotonic clock
 * (contract §10). A jump moves every due time with it, in one transaction, before any other code sees the new time. A
 * clock that is behind at the start counts as a jump too: how long the box was down can't be known then, so nothing
 * becomes due and nothing is skipped.
 */
export function startClockWatch(deps: {
  store: Store;
  clock: SteadyClock;
  log: Log;
  service?: Service | undefined;
}): ClockWatch {
  const { store, clock, log, service } = deps;
  const startedMono = clock.mono();
  let beatMono = startedMono;
  let holdUntilMono = startedMono;
  let lastJump: ClockState["lastJump"] = null;
  let ready = false;
  let seen = seconds(store, "clock_seen") ?? unixSeconds(clock);

  const hold = () => {
    holdUntilMono = clock.mono() + HOLD_MS;
  };
  const now = () => unixSeconds(clock);
  const behindBy = () => {
    const by = seen - now();
    return by > START_SECONDS ? by : 0;
  };
  if (behindBy() > BEHIND_SECONDS) {
    hold();
    log.warn(
      { behind_seconds: behindBy() },
      "the clock is behind the latest time that the box has seen",
    );
  } else if (now() - seen > LONG_DOWN_SECONDS) hold();

  const settle = () => {
    store.write((tx) => settleDowntime(tx, { seen, service, log }));
    ready = true;
  };
  try {
    settle();
  } catch (error) {
    // A box with a full disk must start. The job tries again.
    if (isFatal(error)) throw error;
    log.error({ err: error }, "due times could not be adjusted yet for the time the box was down");
  }

  const beat = () => {
    // After a day without a jump the clock counts as right, whatever it showed before.
    if (seen <= now() || clock.mono() - startedMono >= HOLD_MS) seen = now();
    store.write((tx) => remember(tx, { alive: tx.at, seen }));
    beatMono = clock.mono();
  };

  const follow = (ms: number) => {
    const at = Math.floor((clock.now() + ms) / 1000);
    // Behind at the start and ahead now: a person set the clock. Set back while the box runs: a person corrected it.
    const newSeen = ms < 0 ? at : Math.max(seen, at);
    store.write((tx) => {
      shiftDueTimes(tx, { ms, at, log });
      remember(tx, { alive: at, seen: newSeen });
    });
    clock.adopt();
    seen = newSeen;
    beatMono = clock.mono();
    lastJump = { at, by: Math.round(ms / 1000) };
    if (Math.abs(ms) > BEHIND_SECONDS * 1000) hold();
    log.warn({ seconds: lastJump.by }, "the clock jumped; due times were moved with it");
  };

  return {
    ready: () => ready,
    job: {
      name: "clock",
      run() {
        if (!ready) settle();
        const ms = clock.jump();
        if (ms !== 0) follow(ms);
        else if (clock.mono() - beatMono >= BEAT_MS) beat();
        return clock.now() + LOOK_MS;
      },
    },
    upSince: () =>
      service?.upSince() ?? Math.floor((clock.now() - (clock.mono() - startedMono)) / 1000),
    state() {
      const behind = behindBy();
      const sane = behind <= BEHIND_SECONDS;
      return {
        sane,
        behindBy: behind,
        lastJump,
        holdsDeletion: !sane || clock.mono() < holdUntilMono,
      };
    },
    stop() {
      try {
        if (ready) beat();
      } catch (error) {
        log.warn({ err: error }, "the time of the stop could not be written");
      }
    },
  };
}

/** Adjusts due times for the time since the box last ran. */
function settleDowntime(
  tx: Tx,
  { seen, service, log }: { seen: number; service: Service | undefined; log: Log },
): void {
  const alive = seconds(tx, "last_alive") ?? tx.at;
  const passed = tx.at - alive;
  const down = service === undefined ? passed : service.downSince(alive);
  if (passed < -START_SECONDS) shiftDueTimes(tx, { ms: passed * 1000, at: tx.at, log });
  else if (down > 0) {
    forgiveAlerts(tx, down);
    noteDowntime(tx, { until: tx.at, seconds: down });
    forgiveHeartbeats(tx, down, log);
    // Pages expire after an hour, but a page that waited while the box was off is still tried.
    forgivePages(tx, down);
    forgiveShiftChecks(tx, down);
  }
  if (service === undefined || down > 0) renewPromises(tx);
  if (down !== 0) holdWaiting(tx);
  // The box was off for long, or the clock is far ahead: what waited must be tried before it may fail of its age.
  if (down > LONG_GAP_SECONDS) forgiveDowntime(tx, down);
  remember(tx, { alive: tx.at, seen: Math.max(seen, tx.at) });
}

function shiftDueTimes(tx: Tx, { ms, at, log }: { ms: number; at: number; log: Log }): void {
  const seconds = Math.round(ms / 1000);
  shiftTimers(tx, seconds);
  noteDowntime(tx, { until: at, seconds });
  shiftHits(tx, seconds);
  shiftWaiting(tx, seconds);
  shiftSilences(tx, { seconds, at });
  lookAgainAtAll(tx, at);
  shiftHeartbeats(tx, { seconds, at }, log);
  shiftOutbox(tx, ms);
  shiftPages(tx, ms);
  shiftShiftChecks(tx, seconds);
  lookAtAllShifts(tx);
}

function remember(tx: Tx, times: { alive: number; seen: number }): void {
  setMeta(tx, "last_alive", times.alive);
  setMeta(tx, "clock_seen", times.seen);
}

function seconds(reader: Reader, key: "last_alive" | "clock_seen"): number | undefined {
  const value = getMeta(reader, key);
  return value === undefined ? undefined : Number(value);
}
