import type { RuleBody } from "./rule.ts";
import { AN_HOUR, unixDay } from "./unusual.ts";

/** When something that comes all the time counts as missing. Pure; times are Unix seconds. */

/** Days (of Unix time) of which its rhythm is made: that of its latest event, and those before. */
export const RHYTHM_DAYS = 14;
/** So often it must have come in them: once an hour. */
const LEAST_EVENTS = RHYTHM_DAYS * 24;
/** Of a longer pause two weeks don't tell how often it comes. */
const LONGEST = 7 * 24 * AN_HOUR;
/** What has been missing for so long already when it is looked at first opens nothing. */
export const LATEST_OPENING = 24 * AN_HOUR;
/** Counts and last times wait in memory for so many seconds: what a kill forgets makes nothing missing, and nothing new. */
export const UNWRITTEN_SECONDS = 60;
/** No pause is allowed to last less. */
export const LEAST_ALLOWED = AN_HOUR + UNWRITTEN_SECONDS;
/** The pause before an event that was never heard in the days before. */
export const NEVER_BEFORE = 40 * 24 * AN_HOUR;

/** Of which template (its id) or source (its name) alone something is missing; null: of any, or of nothing. */
export function missingSubject(missing: RuleBody["missing"]): {
  template: string | null;
  source: string | null;
} {
  if (missing === null || missing === true) return { template: null, source: null };
  return "source" in missing
    ? { template: null, source: missing.source }
    : { template: missing.template_id, source: null };
}

/** How long it is silent before it is missing; null: it comes too seldom, or for less than two weeks. */
export function allowedPause(rhythm: { events: number; longest: number }): number | null {
  const { events, longest } = rhythm;
  return events < LEAST_EVENTS || longest >= LONGEST
    ? null
    : Math.max(LEAST_ALLOWED, 3 * longest + UNWRITTEN_SECONDS);
}

/** No pause is allowed to last longer. */
export const LONGEST_ALLOWED = 3 * LONGEST + UNWRITTEN_SECONDS;

/** From when on something of a series that counts since then can be missing: its first day isn't among those of its rhythm. */
export function firstMissed({ since }: { since: number }): number {
  return (unixDay(since) + RHYTHM_DAYS) * 24 * AN_HOUR;
}
