/** Times for people, always in UTC, because the reader's time zone isn't known. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** `2026-11-21T09:12:00Z`, from Unix seconds (RFC 3339). */
export function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

/** `21 Nov 2026`, from Unix seconds, in UTC. */
export function dayText(seconds: number): string {
  const date = new Date(seconds * 1000);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** `09:12`, from Unix seconds, in UTC. */
export function clockText(seconds: number): string {
  return isoTime(seconds).slice(11, 16);
}

/** `21 Nov 2026, 09:12 UTC`, from Unix seconds. */
export function exactText(seconds: number): string {
  return `${dayText(seconds)}, ${clockText(seconds)} UTC`;
}

/** `4 min`, `1 h 20 min`, `3 days`: a duration in seconds, rounded down. Below a minute: `under a minute`. */
export function lengthText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return "under a minute";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "1 day" : `${days} days`;
}

/** `12 min ago` or `just now`; both times in Unix seconds. A time in the future is `just now`. */
export function agoText(then: number, now: number): string {
  return now - then < 60 ? "just now" : `${lengthText(now - then)} ago`;
}
