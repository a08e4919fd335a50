import { zoneOrUtc } from "../../ground/kit/wall-time.ts";

/** Seconds in a day by the calendar's count; a real day may be longer or shorter. */
export const DAY = 86_400;

/** The last second that Temporal can name, either side of the epoch. */
const TIME_LIMIT = 8_640_000_000_000;

/** A stretch of real time, [since, until) in Unix seconds, with one offset from UTC in seconds. */
interface OffsetSpan {
  since: number;
  until: number;
  offset: number;
}

/**
 * A time zone as arithmetic on seconds. A *civil* second is what the wall clock shows, counted as if
 * the clock stood in UTC: 1 January 1970 09:00 on the wall is 32,400 wherever the wall is.
 *
 * Temporal is asked once for each stretch between two clock changes and the rest is sums, because a
 * year's preview needs thousands of conversions.
 */
export class Zone {
  readonly #name: string;
  readonly #spans: OffsetSpan[] = [];
  #latest: OffsetSpan | undefined;

  /** By `zoneOrUtc`. */
  constructor(name: string) {
    this.#name = zoneOrUtc(name);
  }

  /** Seconds that the wall clock is ahead of UTC at this instant. */
  offsetAt(at: number): number {
    return this.#spanAt(at).offset;
  }

  /**
   * The instant at which the wall clock first shows this civil second. One that never comes, because
   * the clock jumps over it, moves forward by the gap (Temporal's "compatible"; contract §5).
   */
  first(civil: number): number {
    return this.#resolve(civil, Math.min);
  }

  /** Like `first`, but the last instant where the clock shows it twice. */
  last(civil: number): number {
    return this.#resolve(civil, Math.max);
  }

  #resolve(civil: number, choose: (a: number, b: number) => number): number {
    // No offset reaches a day, so each reading lies within a day of the civil second; and no zone
    // has changed its clock twice in as short a time, so at most one change is in question.
    const before = this.#spanAt(civil - DAY);
    const early = civil - before.offset;
    if (before.until > civil + DAY) return early;
    const late = civil - this.#spanAt(before.until).offset;
    const shownBefore = early < before.until;
    const shownAfter = late >= before.until;
    if (shownBefore && shownAfter) return choose(early, late);
    // Shown by neither, it is in the gap, and the clock before the change moves it past it.
    return shownAfter ? late : early;
  }

  #spanAt(at: number): OffsetSpan {
    if (this.#latest !== undefined && contains(this.#latest, at)) return this.#latest;
    const span = this.#spans.find((known) => contains(known, at)) ?? this.#load(at);
    this.#latest = span;
    return span;
  }

  #load(at: number): OffsetSpan {
    const second = Math.max(-TIME_LIMIT, Math.min(TIME_LIMIT - 1, Math.floor(at)));
    const here = Temporal.Instant.fromEpochMilliseconds(second * 1000).toZonedDateTimeISO(
      this.#name,
    );
    const next = here.getTimeZoneTransition("next");
    // "previous" is strictly before, and a change at this very second is where this span begins.
    const previous = here.add({ seconds: 1 }).getTimeZoneTransition("previous");
    const span = {
      since: previous === null ? -Infinity : previous.epochMilliseconds / 1000,
      until: next === null ? Infinity : next.epochMilliseconds / 1000,
      offset: here.offsetNanoseconds / 1e9,
    };
    this.#spans.push(span);
    return span;
  }
}

function contains(span: OffsetSpan, at: number): boolean {
  return at >= span.since && at < span.until;
}

/**
 * Whether this is a time zone's IANA name, in any case of letters ("Europe/London", "UTC"). A bare
 * offset ("+02:00") is refused: it knows nothing of clock changes (contract §5).
 */
export function isTimezone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    new Temporal.ZonedDateTime(0n, name);
    return true;
  } catch {
    return false;
  }
}
