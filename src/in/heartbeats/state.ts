import { nextTime, type Times } from "./times.ts";

/** How often a job must report, and how late it may be. */
export interface HeartbeatPace extends Times {
  /** Seconds after the expected time until it counts as missing. */
  grace: number;
  /** Seconds that a run may take from its start to its end. */
  maxRun: number;
}

export type Reason = "missing" | "failed" | "overrun";

/** What is known of a job. Times are Unix seconds. */
export interface HeartbeatState {
  /** `new`: never reported. */
  state: "new" | "up" | "down" | "paused";
  /** When the latest run ended, well or not. */
  lastAt: number | null;
  /** When the first run that hasn't ended began. */
  runAt: number | null;
  /** When it should report next. */
  expectedAt: number | null;
  /** When something is to be done: it is missing then, or has run too long, or is still down and says so again. */
  deadlineAt: number | null;
  /** Why it is down, and which time it is that it is. */
  reason: Reason | null;
  instance: string | null;
}

/** What a job says of itself. */
export type HeartbeatReport = "success" | "start" | "fail" | "log";

/** What the rules are told of a change. */
export interface Said {
  action: "fire" | "resolve";
  reason: Reason | "back" | "paused" | "deleted";
  instance: string | null;
}

export interface Step {
  beat: HeartbeatState;
  said: Said | null;
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

/** A job that stays down is told as the same firing again no sooner than this. */
const AGAIN_SECONDS = 3600;
/** How early a report by the clock may come: the job's machine may have a clock that is ahead. */
const EARLY_SECONDS = 60;
/** What a box may be away for so that senders that try again have got through. */
const BRIDGED_SECONDS = 60;

/** A job reported at `at`. */
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
    const back: Said = { action: "resolve", reason: "back", instance: beat.instance };
    return {
      beat: { ...beat, ...ended, state: "up", ...waiting(pace, timeOf(beat, pace, at)), ...well },
      said: beat.state === "down" ? back : null,
    };
  }
  const instance = beat.state === "down" ? beat.instance : String(at);
  return down({ ...beat, ...ended }, { reason: "failed", instance }, { pace, at });
}

/** The time that a report at `at` is for: by the clock the next, where that is as good as there and the report before is longer ago. */
function timeOf({ expectedAt, lastAt }: HeartbeatState, pace: HeartbeatPace, at: number): number {
  const soon = pace.period === null ? nextTime(pace, at) : null;
  if (soon === null || soon - at > EARLY_SECONDS || expectedAt === null || lastAt === null)
    return at;
  // Past it already: it was reported a moment ago, and this is the same again.
  const isFor = expectedAt > soon || (expectedAt === soon && soon - at < at - lastAt);
  return isFor ? soon : at;
}

/** A run has ended while another goes on that began at `since`: its end is waited for. */
export function goingOn(
  beat: HeartbeatState,
  since: number,
  { maxRun }: HeartbeatPace,
): HeartbeatState {
  return { ...beat, runAt: since, deadlineAt: since + maxRun };
}

/** An earlier run that hasn't ended keeps its deadline: a job that begins again and again without an end is seen. */
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
): { beat: HeartbeatState; said: Said } {
  return {
    beat: { ...beat, ...why, state: "down", ...again(when.pace, when.at) },
    said: { action: "fire", ...why },
  };
}

/**
 * When a job that is down has missed its next time, too: then it is told as the same firing again. Nobody hears of
 * it, but where somebody resolved the alert it comes back, and a rule that was made meanwhile takes it.
 */
function again(pace: HeartbeatPace, at: number): Pick<HeartbeatState, "expectedAt" | "deadlineAt"> {
  const next = waiting(pace, at);
  return { ...next, deadlineAt: Math.max(next.deadlineAt ?? 0, at + AGAIN_SECONDS) };
}

/** Time has come to `at`. */
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

/** A job that never reported is waited for from its first report on. */
export function resumed(beat: HeartbeatState, pace: HeartbeatPace, at: number): HeartbeatState {
  if (beat.state !== "paused") return beat;
  if (beat.lastAt === null) return newHeartbeatState;
  return { ...beat, state: "up", ...waiting(pace, at) };
}

/** Its pace is another from now on: at least the grace is left. */
export function repaced(beat: HeartbeatState, pace: HeartbeatPace, at: number): HeartbeatState {
  if (beat.deadlineAt === null || beat.state === "down") return beat;
  const least = at + pace.grace;
  if (beat.runAt !== null)
    return { ...beat, deadlineAt: Math.max(beat.runAt + pace.maxRun, least) };
  const next = waiting(pace, beat.lastAt ?? at);
  return { ...beat, ...next, deadlineAt: Math.max(next.deadlineAt ?? least, least) };
}

/**
 * The box was down for `seconds` until `at`. That is no lateness: after a short while there is at least the grace;
 * where a report may have been lost, the next one is waited for. `lost` says that it may have been.
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

/** By the clock a job reports early by a moment at most; by a period it may, by as much as it may be late. */
function mayBeLost(
  { runAt, expectedAt }: HeartbeatState,
  pace: HeartbeatPace,
  at: number,
): boolean {
  if (runAt !== null || expectedAt === null) return true;
  return expectedAt - (pace.period === null ? 0 : pace.grace) <= at;
}

/**
 * The wall clock jumped by `seconds` to `at`. What is counted from a report moves along; what is at a time of day is
 * looked up again, unless it is being waited for or the jump is small.
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

/** As people see it: `late` is past the expected time and within the grace. */
export type ShownState = "new" | "up" | "started" | "late" | "down" | "paused";

export function shownState(beat: HeartbeatState, at: number): ShownState {
  if (beat.state === "down" || beat.state === "paused") return beat.state;
  if (beat.runAt !== null) return "started";
  return beat.expectedAt !== null && beat.expectedAt <= at ? "late" : beat.state;
}
