import { nextTime, type Times } from "./times.ts";

/** How often a job must report, and how late it may be. */
export interface HeartbeatPace extends Times {
  /** Seconds after the expected time until the job counts as missing. */
  grace: number;
  /** Seconds that a run may take. */
  maxRun: number;
}

type Reason = "missing" | "failed" | "overrun";

/** The state of a job. Times are Unix seconds. */
export interface HeartbeatState {
  /** `new`: never reported. */
  state: "new" | "up" | "down" | "paused";
  /** When the latest run ended, well or badly. */
  lastAt: number | null;
  /** When the first unfinished run began. */
  runAt: number | null;
  /** When the next report is expected. */
  expectedAt: number | null;
  /** When to check the state: the job is missing then, or its run too long, or it is still down and fires again. */
  deadlineAt: number | null;
  /** Why it is down, and the id of this firing. */
  reason: Reason | null;
  instance: string | null;
}

export type HeartbeatReport = "success" | "start" | "fail" | "log";

/** A change that the rules must see. */
export interface HeartbeatSignal {
  action: "fire" | "resolve";
  reason: Reason | "back" | "paused" | "deleted";
  instance: string | null;
}

export interface Step {
  beat: HeartbeatState;
  said: HeartbeatSignal | null;
}

export const newHeartbeatState: HeartbeatState = {
  state: "new",
  lastAt: null,
  runAt: null,
  expectedAt: null,
  deadlineAt: null,
  reason: null,
  instance: null,
};

/** A job that stays down fires again at most this often. */
const AGAIN_SECONDS = 3600;
/** How early a report for a cron time may come: the job's machine may have a clock that is ahead. */
const EARLY_SECONDS = 60;
/** After so short an outage of the box, senders that retry have reached it. */
const BRIDGED_SECONDS = 60;

/** Handles a report at `at`. */
export function heard(
  beat: HeartbeatState,
  word: HeartbeatReport,
  pace: HeartbeatPace,
  at: number,
): Step {
  if (word === "log") return { beat, said: null };
  const ended = word === "start" ? {} : { lastAt: at, runAt: null };
  if (beat.state === "paused") return { beat: { ...beat, ...ended }, said: null };
  if (word === "start") return { beat: started(beat, pace, at), said: null };
  if (word === "success") {
    const back: HeartbeatSignal = { action: "resolve", reason: "back", instance: beat.instance };
    return {
      beat: { ...beat, ...ended, state: "up", ...waiting(pace, timeOf(beat, pace, at)), ...well },
      said: beat.state === "down" ? back : null,
    };
  }
  const instance = beat.state === "down" ? beat.instance : String(at);
  return down({ ...beat, ...ended }, { reason: "failed", instance }, { pace, at });
}

/**
 * The expected time that a report at `at` is for. By cron: the next, if it is close, and closer than the last report.
 */
function timeOf({ expectedAt, lastAt }: HeartbeatState, pace: HeartbeatPace, at: number): number {
  const soon = pace.period === null ? nextTime(pace, at) : null;
  if (soon === null || soon - at > EARLY_SECONDS || expectedAt === null || lastAt === null)
    return at;
  // The expected time is already later: this repeats the last report.
  const isFor = expectedAt > soon || (expectedAt === soon && soon - at < at - lastAt);
  return isFor ? soon : at;
}

/** A run has ended while another, begun at `since`, goes on: the other's end is waited for. */
export function goingOn(
  beat: HeartbeatState,
  since: number,
  { maxRun }: HeartbeatPace,
): HeartbeatState {
  return { ...beat, runAt: since, deadlineAt: since + maxRun };
}

/** An unfinished run keeps its deadline, so that a job that starts again and again without an end is noticed. */
function started(beat: HeartbeatState, { maxRun }: HeartbeatPace, at: number): HeartbeatState {
  if (beat.runAt !== null) return beat;
  if (beat.state === "down") return { ...beat, runAt: at };
  return { ...beat, runAt: at, deadlineAt: at + maxRun };
}

const well = { reason: null, instance: null };

function waiting(
  pace: HeartbeatPace,
  from: number,
): Pick<HeartbeatState, "expectedAt" | "deadlineAt"> {
  const expectedAt = nextTime(pace, from);
  return { expectedAt, deadlineAt: expectedAt === null ? null : expectedAt + pace.grace };
}

function down(
  beat: HeartbeatState,
  why: { reason: Reason; instance: string | null },
  when: { pace: HeartbeatPace; at: number },
): { beat: HeartbeatState; said: HeartbeatSignal } {
  return {
    beat: { ...beat, ...why, state: "down", ...again(when.pace, when.at) },
    said: { action: "fire", ...why },
  };
}

/**
 * The deadline of a job that is down: after its next missed time it fires again, as the same firing. Nobody is
 * notified; but if somebody resolved the alert it reopens, and a rule that was made meanwhile sees it.
 */
function again(pace: HeartbeatPace, at: number): Pick<HeartbeatState, "expectedAt" | "deadlineAt"> {
  const next = waiting(pace, at);
  return { ...next, deadlineAt: Math.max(next.deadlineAt ?? 0, at + AGAIN_SECONDS) };
}

/** Checks the deadline at `at`. */
export function looked(beat: HeartbeatState, pace: HeartbeatPace, at: number): Step {
  const { deadlineAt, reason, instance, state } = beat;
  if (deadlineAt === null || deadlineAt > at || state === "paused") return { beat, said: null };
  const when = { pace, at };
  if (state === "down" && reason !== null) return down(beat, { reason, instance }, when);
  const why = beat.runAt === null ? "missing" : "overrun";
  return down({ ...beat, runAt: null }, { reason: why, instance: String(deadlineAt) }, when);
}

export function paused(beat: HeartbeatState): Step {
  return {
    beat: { ...newHeartbeatState, state: "paused", lastAt: beat.lastAt },
    said:
      beat.state === "down"
        ? { action: "resolve", reason: "paused", instance: beat.instance }
        : null,
  };
}

/** A job that never reported is expected only after its first report. */
export function resumed(beat: HeartbeatState, pace: HeartbeatPace, at: number): HeartbeatState {
  if (beat.state !== "paused") return beat;
  if (beat.lastAt === null) return newHeartbeatState;
  return { ...beat, state: "up", ...waiting(pace, at) };
}

/** Applies a new schedule; the job has at least the grace. */
export function repaced(beat: HeartbeatState, pace: HeartbeatPace, at: number): HeartbeatState {
  if (beat.deadlineAt === null || beat.state === "down") return beat;
  const least = at + pace.grace;
  if (beat.runAt !== null)
    return { ...beat, deadlineAt: Math.max(beat.runAt + pace.maxRun, least) };
  const next = waiting(pace, beat.lastAt ?? at);
  return { ...beat, ...next, deadlineAt: Math.max(next.deadlineAt ?? least, least) };
}

/**
 * The box was down for `seconds` until `at`, which doesn't count as lateness. After a short outage the job has at least
 * the grace. After a long one a report may have been lost (`lost`): then the next one is awaited.
 */
export function afterDown(
  beat: HeartbeatState,
  pace: HeartbeatPace,
  { seconds, at }: { seconds: number; at: number },
): { beat: HeartbeatState; lost: boolean } {
  const { deadlineAt, expectedAt, runAt } = beat;
  if (deadlineAt === null) return { beat, lost: false };
  const isLong = seconds > BRIDGED_SECONDS;
  if (beat.state === "down")
    return { beat: isLong ? { ...beat, ...again(pace, at) } : beat, lost: false };
  if (isLong && mayBeLost(beat, pace, at))
    return { beat: { ...beat, state: "up", runAt: null, ...waiting(pace, at) }, lost: true };
  const least = Math.max(deadlineAt, at + pace.grace);
  return { beat: { ...beat, runAt, expectedAt, deadlineAt: least }, lost: false };
}

/** By cron a job reports early by a moment at most; by a period it can be early by as much as the grace. */
function mayBeLost(
  { runAt, expectedAt }: HeartbeatState,
  pace: HeartbeatPace,
  at: number,
): boolean {
  if (runAt !== null || expectedAt === null) return true;
  return expectedAt - (pace.period === null ? 0 : pace.grace) <= at;
}

/**
 * The wall clock jumped by `seconds` to `at`. Times counted from a report move with it. A cron time is computed again,
 * unless the job is late already or the jump is small.
 */
export function jumped(
  beat: HeartbeatState,
  pace: HeartbeatPace,
  { seconds, at }: { seconds: number; at: number },
): HeartbeatState {
  const { deadlineAt, expectedAt, runAt } = beat;
  if (deadlineAt === null) return beat;
  const by = (time: number | null) => (time === null ? null : time + seconds);
  const isByClock = pace.period === null && runAt === null && beat.state !== "down";
  const isLate = expectedAt === null || expectedAt <= at - seconds;
  if (!isByClock || isLate)
    return { ...beat, runAt: by(runAt), expectedAt: by(expectedAt), deadlineAt: by(deadlineAt) };
  if (Math.abs(seconds) <= BRIDGED_SECONDS) return beat;
  return { ...beat, ...waiting(pace, at) };
}

/** As people see it; `late`: after the expected time and within the grace. */
type ShownState = "new" | "up" | "started" | "late" | "down" | "paused";

export function shownState(beat: HeartbeatState, at: number): ShownState {
  if (beat.state === "down" || beat.state === "paused") return beat.state;
  if (beat.runAt !== null) return "started";
  return beat.expectedAt !== null && beat.expectedAt <= at ? "late" : beat.state;
}
