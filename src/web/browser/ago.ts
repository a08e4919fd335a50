/*
 * Times in words. Pure; the pages that the box draws say the same words, which a test holds together.
 */
const MINUTE = 60;
const HOUR = 3600;
const DAY = 86_400;

/** "12 s", "4 min", "3 h", "1 day", "5 days": the largest unit, rounded down; days to the nearest. */
export function spanWords(seconds: number): string {
  if (seconds < MINUTE) return `${Math.floor(seconds)} s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)} h`;
  const days = Math.round(seconds / DAY);
  return days === 1 ? "1 day" : `${days} days`;
}

/** "4 min ago", "now" below five seconds; `bare`: "4 min". */
export function agoWords(seconds: number, bare: boolean): string {
  const text = spanWords(Math.max(0, seconds));
  if (bare) return text;
  return seconds < 5 ? "now" : `${text} ago`;
}

/** What is left: "9 s", "3:12", "12 min", "1 h 3 min", "2 days", and "0 s" from then on. A second that has begun counts. */
export function leftWords(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  if (left >= 2 * DAY) return spanWords(left);
  const [hours, minutes] = [Math.floor(left / HOUR), Math.floor((left % HOUR) / MINUTE)];
  const two = (part: number) => String(part).padStart(2, "0");
  if (hours > 0) return `${hours} h${minutes > 0 ? ` ${minutes} min` : ""}`;
  // "13:00" would be read as a time of day.
  if (minutes >= 10) return `${minutes} min`;
  return minutes > 0 ? `${minutes}:${two(left % MINUTE)}` : `${left} s`;
}
