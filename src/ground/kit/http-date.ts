import type { Clock } from "./clock.ts";

const TIME = String.raw`(?<h>[01]\d|2[0-3]):(?<m>[0-5]\d):(?<s>[0-5]\d|60)`;
/** The three forms of a date, the most common first. */
const HTTP_DATES = [
  String.raw`[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) ${TIME} GMT`,
  String.raw`[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) ${TIME} (?<year>\d{4})`,
].map((form) => new RegExp(`^${form}$`));
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/**
 * Milliseconds since the epoch of an HTTP date from 1970 on, in any of its three forms (RFC 9110 §5.6.7); null for
 * other text. A year of two digits is one from 1970 to 2069.
 */
export function parseHttpDate(text: string): number | null {
  for (const form of HTTP_DATES) {
    const found = form.exec(text)?.groups;
    if (found) return dateOf(found);
  }
  return null;
}

function dateOf(said: Record<string, string>): number | null {
  const day = Number(said["day"]);
  const month = MONTHS.indexOf(said["month"] ?? "");
  const short = said["year"]?.length === 2;
  const year = Number(said["year"]) + (short ? (Number(said["year"]) < 70 ? 2000 : 1900) : 0);
  // A leap second counts as the second before it.
  const second = Math.min(Number(said["s"]), 59);
  const at = Date.UTC(year, month, day, Number(said["h"]), Number(said["m"]), second);
  return month >= 0 && year >= 1970 && new Date(at).getUTCDate() === day ? at : null;
}

/** The text of the `Date` header (RFC 9110 §5.6.7), made once a second. */
export function httpDate(clock: Clock): () => string {
  let second = Number.NaN;
  let text = "";
  return () => {
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      second = now;
      text = new Date(now * 1000).toUTCString();
    }
    return text;
  };
}
