import type { HeartbeatCreate } from "../../../src/in/heartbeats/heartbeat.ts";
import { paceOf } from "../../../src/in/heartbeats/rows.ts";
import { type HeartbeatReport, paused, resumed } from "../../../src/in/heartbeats/state.ts";
import type { Seeded } from "../seeded.ts";
import type { Did, Scene } from "./acts.ts";
import type { Box } from "./box.ts";
import { comesAt, shownAt } from "./calendar.ts";
import type { Ledger } from "./ledger.ts";

/** Jobs that report or don't, and what must hold of their heartbeats: no time in which the box was off is lateness. */

const DAY = 86_400;

/** What was said to the box of one job. Times are elapsed seconds. */
interface Told {
  id: string;
  period: number | null;
  /** Minute of the day in `zone`, where it has no period. */
  minute: number;
  zone: string;
  grace: number;
  maxRun: number;
  isPaused: boolean;
  /** Since when its next report is waited for; null: not. */
  from: number | null;
  /** When the run began that hasn't ended. */
  run: number | null;
  /** A run of it has ended, well or not: without, nobody waits for it once it was paused. */
  hasEnded: boolean;
  seen: string;
}

interface Row {
  id: string;
  state: string;
  reason: string | null;
}

export interface Beats {
  readonly faults: string[];
  readonly missing: { count: number };
  act(scene: Scene): Promise<Did>;
  pauseAll(box: Box): Promise<void>;
  /** `rested`: nothing is due any more. */
  check(rested: boolean): void;
}

export function makeBeats(random: Seeded): HeartbeatCreate[] {
  return Array.from({ length: random.below(3) }, (_, i): HeartbeatCreate => {
    const grace_seconds = random.pick([30, 300, 3600]);
    const max_run_seconds = random.pick([null, 120, 4000]);
    const minute = random.below(1440);
    const pace = random.chance(0.7)
      ? { period_seconds: random.pick([60, 900, 7200, DAY]) }
      : {
          cron: `${minute % 60} ${Math.floor(minute / 60)} * * *`,
          timezone: random.pick(["Europe/Vienna", "America/New_York", "UTC"]),
        };
    return { name: `job ${i}`, ...pace, grace_seconds, max_run_seconds };
  });
}

const ROWS = "SELECT id, state, reason FROM heartbeats ORDER BY name";

export function createBeats(made: readonly HeartbeatCreate[], ledger: Ledger, box: Box): Beats {
  const faults: string[] = [];
  const missing = { count: 0 };
  const read = (): Row[] => box.engine.store.sql(ROWS).all() as Row[];
  const jobs = read().map(({ id }, i): Told => {
    const { period_seconds, cron, timezone, grace_seconds, max_run_seconds } = made[
      i
    ] as HeartbeatCreate;
    const [minutes = 0, hours = 0] = (cron ?? "").split(" ").map(Number);
    const grace = grace_seconds ?? 300;
    return {
      id,
      period: period_seconds ?? null,
      minute: hours * 60 + minutes,
      grace,
      zone: timezone ?? "UTC",
      maxRun: max_run_seconds ?? grace,
      isPaused: false,
      from: null,
      run: null,
      hasEnded: false,
      seen: "new",
    };
  });
  const now = () => ledger.elapsed(box.engine);
  let downs = 0;

  const ping = async (job: Told, word: HeartbeatReport) => {
    await box.heartbeats.hear(job.id, { word, rid: null, exit: null, message: null });
    if (word === "log") return;
    if (word === "start") {
      if (!job.isPaused) job.run ??= now();
      return;
    }
    job.run = null;
    job.hasEnded = true;
    if (!job.isPaused || word === "success" || word === "fail") job.from = now();
    if (job.isPaused) return;
    job.seen = word === "success" ? "up" : "down";
  };
  const pause = async (job: Told) => {
    await box.heartbeats.change(job.id, (_, beat) => paused(beat));
    Object.assign(job, { isPaused: true, run: null, seen: "paused" });
  };
  const resume = async (job: Told) => {
    await box.heartbeats.change(job.id, (tx, beat, row) => ({
      beat: resumed(beat, paceOf(row), tx.at),
      said: null,
    }));
    if (!job.isPaused) return;
    const hasReported = job.hasEnded;
    Object.assign(job, { isPaused: false, from: hasReported ? now() : null });
    job.seen = hasReported ? "up" : "new";
  };

  const check = (job: Told, { state, reason }: Row) => {
    const fault = (text: string) => faults.push(`job ${job.id} at ${now()}: ${text}`);
    if (state === "down" && job.seen !== "down") {
      missing.count += 1;
      const early = isEarly(job, reason, { ledger, box, now: now() });
      if (early !== null) fault(`${reason} too early: ${early}`);
      job.run = null;
    } else if (state !== job.seen && !(job.seen === "new" && state === "new"))
      fault(`is ${state}, must be ${job.seen}`);
    job.seen = state;
  };

  return {
    faults,
    missing,
    async act({ random }) {
      if (jobs.length === 0) return { what: "nothing" };
      const job = random.pick(jobs);
      const kind = random.below(20);
      if (kind < 13)
        await ping(job, random.pick(["success", "success", "success", "start", "log"]));
      else if (kind < 16) await ping(job, "fail");
      else if (kind < 17) await pause(job);
      else await resume(job);
      return { what: "beat" };
    },
    async pauseAll() {
      for (const job of jobs) await pause(job);
    },
    check(rested) {
      for (const { at, seconds } of ledger.downs.slice(downs))
        for (const job of jobs) if (seconds > BRIDGED && job.run !== null) giveUp(job, at);
      downs = ledger.downs.length;
      const rows = read();
      for (const [i, row] of rows.entries()) {
        const job = jobs[i] as Told;
        check(job, row);
        if (!rested) continue;
        const late = isLate(job, row, { ledger, now: now() });
        if (late !== null) faults.push(`job ${job.id} at ${now()}: ${late}`);
        const wrong = wrongAlert(box, job, row);
        if (wrong !== null) faults.push(`job ${job.id} at ${now()}: ${wrong}`);
      }
    },
  };
}

/** A box that was away for less is reached by senders that try again. */
const BRIDGED = 60;

/** The end of its run may have been lost: the next report is waited for. */
function giveUp(job: Told, at: number): void {
  job.run = null;
  if (job.seen === "down") return;
  job.from = at;
  job.seen = "up";
}

/** Why a job that counts as missing, or as too long, isn't. */
function isEarly(
  job: Told,
  reason: string | null,
  { ledger, box, now }: { ledger: Ledger; box: Box; now: number },
): string | null {
  const { from, run, grace, period } = job;
  const since = reason === "overrun" ? run : from;
  const justBack = ledger.downs.some(({ at }) => at > Math.max(now - grace, since ?? 0));
  if (reason === "failed") return "nobody said so";
  if (justBack) return "the box was off within its grace";
  if (reason === "overrun") {
    if (run === null) return "no run goes on";
    return now - run < job.maxRun ? `it runs for ${now - run} s` : null;
  }
  if (from === null) return "it never reported";
  if (period === null) {
    if (ledger.jumpedAt > from) return null;
    const last = lastTime(job, box.engine.now() - grace);
    return last > from + ledger.jumped ? null : "no time of its cron has passed";
  }
  if (now < from + period + grace) return `waited for ${now - from} s only`;
  let waited = from;
  for (const { at, seconds } of ledger.downs)
    if (seconds > BRIDGED && at > waited && at >= waited + period - grace) waited = at;
  return now < waited + period + grace ? "a report may have been lost while the box was off" : null;
}

/** The last time of its cron up to `wall`. */
function lastTime({ minute, zone }: Told, wall: number): number {
  const midnight = Math.floor(shownAt(zone, wall) / DAY) * DAY;
  const times = [-2, -1, 0, 1].map((day) =>
    comesAt(zone, midnight + day * DAY + minute * 60, "first"),
  );
  return Math.max(...times.filter((at) => at <= wall));
}

/** Why a job that doesn't count as missing must. */
function isLate(
  { from, run, period, grace, maxRun }: Told,
  { state }: Row,
  { ledger, now }: { ledger: Ledger; now: number },
): string | null {
  if (state !== "up" || from === null || (period === null && run === null)) return null;
  const since = run ?? from;
  const whole = run === null ? (period as number) + grace : maxRun;
  const long = ledger.downs.findLast(({ at, seconds }) => at >= since && seconds > BRIDGED);
  const short = ledger.downs.findLast(({ at }) => at >= since);
  const again = long === undefined ? since : long.at;
  // After a long while a run is given up, and the next report is waited for.
  const wait = long === undefined ? whole : Math.max(whole, (period ?? 2 * DAY) + grace);
  const latest = Math.max(again + wait, (short?.at ?? 0) + grace);
  return now > latest ? `is up ${now - since} s after it reported` : null;
}

/** Its alert stands while it is down, and no longer. */
function wrongAlert(box: Box, { id }: Told, { state }: Row): string | null {
  const { store } = box.engine;
  const standing = store
    .sql("SELECT 1 FROM alerts WHERE dedup_key = ? AND state <> 'resolved'")
    .get(id);
  if (state !== "down") return standing === undefined ? null : "an alert stands and it isn't down";
  if (standing !== undefined) return null;
  const byHand = store
    .sql(
      `SELECT 1 FROM alerts a WHERE dedup_key = ? AND a.id = (SELECT max(id) FROM alerts WHERE dedup_key = ?)
       AND EXISTS (SELECT 1 FROM timeline t WHERE t.alert_id = a.id AND t.kind = 'resolved' AND t.account_id IS NOT NULL)`,
    )
    .get(id, id);
  return byHand === undefined ? "it is down and no alert says so" : null;
}
