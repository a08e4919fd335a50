import * as z from "zod";
import { unixSeconds } from "../../ground/kit/clock.ts";
import type { Reader } from "../../ground/store/store.ts";
import { minuteOf } from "./message.ts";
import type { BreakerLimits } from "./retry.ts";

/** How a channel fares, in a state and in words. Times are Unix seconds. */
export const channelHealthAnswer = z
  .object({
    state: z.enum(["works", "failing", "off", "never_tried"]),
    text: z.string().meta({ description: "The same in a sentence." }),
    since: z.int().nullable().meta({
      description: "Of what fails or is off; null where it isn't known, as of a test that failed.",
    }),
    worked_at: z.int().nullable().meta({
      description: "When it last took something, to the minute.",
    }),
    failures: z.int().meta({ description: "Attempts that failed in a row." }),
    error: z.string().nullable(),
    next_try_at: z.int().nullable(),
    turns_off_at: z.int().nullable().meta({
      description: "From when on one more failure turns it off.",
    }),
    waiting: z.int().meta({ description: "Deliveries that wait, at most 1,000 are counted." }),
    off_by: z.enum(["person", "breaker", "receiver", "operator"]).nullable().meta({
      description: "Who turned it off; receiver: it asked for no more. Null where it isn't known.",
    }),
    off_by_account: z.string().nullable(),
  })
  .meta({ id: "ChannelHealth" });
export type ChannelHealth = z.output<typeof channelHealthAnswer>;

/** What turns channels off, where no account did. */
export const OFF_BY = { breaker: "breaker", receiver: "receiver", operator: "operator" } as const;

/** What is known of it. */
export interface ChannelFacts {
  enabled: boolean;
  failures: number;
  /** Unix seconds, as all times here. */
  failingSince: number | null;
  error: string | null;
  workedAt: number | null;
  offAt: number | null;
  /** An account's id, or one of OFF_BY. */
  offBy: string | null;
  waiting: number;
  nextTryAt: number | null;
}

/** Pure. */
export function channelHealth(facts: ChannelFacts, breaker: BreakerLimits): ChannelHealth {
  const { enabled, failures, error, workedAt, waiting } = facts;
  const plain = {
    since: null,
    worked_at: workedAt,
    failures,
    error,
    waiting,
    next_try_at: null,
    turns_off_at: null,
    off_by: null,
    off_by_account: null,
  };
  if (!enabled) return { ...plain, ...offOf(facts) };
  if (failures === 0 && error === null) {
    if (workedAt === null)
      return { ...plain, state: "never_tried", text: "Nothing was sent yet: send a test." };
    return { ...plain, state: "works", text: `Works: it took something at ${utc(workedAt)}.` };
  }
  return { ...plain, ...failingOf(facts, breaker) };
}

function failingOf(
  { failures, failingSince: since, error, nextTryAt }: ChannelFacts,
  breaker: BreakerLimits,
) {
  const next_try_at = nextTryAt;
  const state = "failing" as const;
  const why = error ?? "no reason was noted";
  // A test that failed begins no streak, nor does what went wrong on this side.
  if (since === null || failures === 0) {
    const text = `The last try didn't get through: ${why}.`;
    return { state, text, next_try_at };
  }
  const turns_off_at = since + Math.ceil(breaker.minSpanMs / 1000);
  const times = failures === 1 ? "once" : `${failures} times`;
  const left = Math.max(0, breaker.minFailures - failures);
  const after = left > 1 ? `, ${left} failures on,` : "";
  const text = [
    `Failing since ${utc(since)}, ${times}: ${why}.`,
    nextTryAt === null ? "" : `Next try at ${utc(nextTryAt)}.`,
    `Turns itself off${after} from ${utc(turns_off_at)} unless it recovers.`,
  ];
  return { state, text: text.filter(Boolean).join(" "), since, next_try_at, turns_off_at };
}

const OFF_WORDS = {
  person: "a person turned it off",
  breaker: "it turned itself off after it had failed for long",
  receiver: "its receiver asked for no more",
  operator: "it was turned off by the configuration",
} as const;

function offOf({ offAt, offBy, error, failingSince }: ChannelFacts) {
  const off_by = whoOf(offBy, failingSince);
  const since = offAt === null ? "" : ` since ${utc(offAt)}`;
  const who = off_by === null ? "" : `: ${OFF_WORDS[off_by]}`;
  const why = error === null ? "" : ` (${error})`;
  return {
    state: "off" as const,
    text: `Off${since}${who}${why}.`,
    since: offAt,
    off_by,
    off_by_account: off_by === "person" ? offBy : null,
  };
}

function whoOf(offBy: string | null, failingSince: number | null): ChannelHealth["off_by"] {
  // Of one that was off before this was noted, its streak tells that no person did it.
  if (offBy === null) return failingSince === null ? null : OFF_BY.breaker;
  return Object.values(OFF_BY).find((kind) => kind === offBy) ?? "person";
}

const utc = (seconds: number) => `${minuteOf(seconds)} UTC`;

/** How much of what waits is looked at. */
const MOST_WAITING = 1000;

const FACTS = `SELECT enabled, consecutive_failures AS failures, failing_since AS failingSince, last_error AS error,
    worked_at AS workedAt, off_at AS offAt, off_by AS offBy FROM integrations WHERE id = ?`;
const WAITING = `SELECT count(*) AS waiting, min(next_attempt_ms) AS next FROM (
    SELECT next_attempt_ms FROM deliveries INDEXED BY deliveries_pending
    WHERE integration_id = ? AND status = 'pending' LIMIT ${MOST_WAITING})`;

type Stored = Omit<ChannelFacts, "enabled" | "waiting" | "nextTryAt"> & { enabled: number };

/** How a channel fares as it is stored; null for one that there isn't. */
export function healthOf(
  reader: Reader,
  integrationId: string,
  breaker: BreakerLimits,
): ChannelHealth | null {
  const row = reader.sql<[id: string], Stored>(FACTS).get(integrationId);
  if (row === undefined) return null;
  const waits = reader
    .sql<[id: string], { waiting: number; next: number | null }>(WAITING)
    .get(integrationId);
  const next = waits?.next ?? null;
  const nextTryAt =
    next === null ? null : Math.max(unixSeconds(reader.clock), Math.ceil(next / 1000));
  const facts = { ...row, enabled: row.enabled !== 0, waiting: waits?.waiting ?? 0, nextTryAt };
  return channelHealth(facts, breaker);
}
