/* Times of pages that are drawn without the box. Pure. */

const DAY_MS = 86_400_000;

/** "02:14", with its day where it isn't today's: "Mon 16 Nov, 02:14". Unix milliseconds; a zone that isn't known is the browser's. */
export function hourAt(at: number, now: number, zone?: string): string {
  const format = formatIn(zone);
  const parts = (ms: number) =>
    format.format(ms).replace(/^(\w+), (\d+) (\w+)\D+(?=\d\d:)/, "$1 $2 $3, ");
  const [then, today] = [parts(at), parts(now)];
  const isToday = Math.abs(now - at) < DAY_MS && then.split(",")[0] === today.split(",")[0];
  return isToday ? (then.split(", ")[1] ?? then) : then;
}

/** "02:10:31". */
export const secondsAt = (at: number, zone?: string): string =>
  formatIn(zone, { hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(at);

function formatIn(
  zone: string | undefined,
  shape: Intl.DateTimeFormatOptions = {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  },
): Intl.DateTimeFormat {
  const how = { ...shape, hourCycle: "h23" } as const;
  try {
    return new Intl.DateTimeFormat("en-GB", { ...how, timeZone: zone });
  } catch {
    return new Intl.DateTimeFormat("en-GB", how);
  }
}
