/**
 * The OnCalendar expressions of systemd's timers (systemd.time(7), Calendar Events) that cron can express: days of the
 * week, or months and days, and a time of day, with lists, ranges and steps.
 */

export interface CalendarTimes {
  /** Five cron fields. */
  cron: string;
  /** The zone at its end; null without one. */
  timezone: string | null;
}

/** Systemd's short names. */
const SHORT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    minutely: "*-*-* *:*:00",
    hourly: "*-*-* *:00:00",
    daily: "*-*-* 00:00:00",
    midnight: "*-*-* 00:00:00",
    weekly: "Mon *-*-* 00:00:00",
    monthly: "*-*-01 00:00:00",
    quarterly: "*-01,04,07,10-01 00:00:00",
    semiannually: "*-01,07-01 00:00:00",
    yearly: "*-01-01 00:00:00",
    annually: "*-01-01 00:00:00",
  }),
);

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const LONG_DAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** The cron fields for an expression, or a sentence that says what isn't supported. */
export function cronOfCalendar(text: string): CalendarTimes | string {
  const words = text.trim().split(/\s+/);
  const [first = ""] = words;
  const short = SHORT.get(first.toLowerCase());
  const all = short === undefined ? words : [...short.split(" "), ...words.slice(1)];
  const days = /^[a-z]/i.test(all[0] ?? "") ? weekdays(all.shift() ?? "") : "*";
  if (days === null) return "has a day of the week that isn't one, like Mon..Fri";
  const date = /^[^:]*-[^:]*$/.test(all[0] ?? "") ? (all.shift() ?? "") : "*-*-*";
  const time = /^[\d*.,/]+:/.test(all[0] ?? "") ? (all.shift() ?? "") : "00:00";
  const timezone = all.shift() ?? null;
  if (all.length > 0) return `goes on after its zone: ${all[0]}`;
  const on = dateFields(date);
  const at = timeFields(time);
  if (typeof on === "string") return on;
  if (typeof at === "string") return at;
  // With both given, cron runs on days that match either, systemd on days that match both.
  if (days !== "*" && on.day !== "*") return "names days of the week and of the month at once";
  return { cron: `${at.minute} ${at.hour} ${on.day} ${on.month} ${days}`, timezone };
}

function dateFields(text: string): { month: string; day: string } | string {
  if (text.includes("~")) return "counts days from the end of the month";
  const parts = text.split("-");
  const [year, months = "", days = ""] = parts.length === 2 ? ["*", ...parts] : parts;
  if (parts.length > 3 || year !== "*") return "names a year";
  const [month, day] = [field(months, 1, 12), field(days, 1, 31)];
  if (month === null || day === null) return "has no date like *-*-01";
  return { month, day };
}

function timeFields(text: string): { hour: string; minute: string } | string {
  const [hours = "", minutes = "", seconds = "00", ...more] = text.split(":");
  if (more.length > 0 || !/^0{1,2}$/.test(seconds)) return "names seconds";
  const [hour, minute] = [field(hours, 0, 23), field(minutes, 0, 59)];
  if (hour === null || minute === null) return "has no time like 03:00";
  return { hour, minute };
}

/** `*`, `1,2`, `8..17`, `0/15`, `8..17/2` within these bounds; null for anything else. */
function field(text: string, least: number, most: number): string | null {
  const parts = text.split(",").map((part) => {
    const [, star, from, to, step] =
      /^(?:(\*)|(\d{1,2})(?:\.\.(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (star === undefined && from === undefined) return null;
    const low = star ? least : Number(from);
    const high = star ? most : to === undefined ? (step === undefined ? low : most) : Number(to);
    if (low < least || high > most || low > high || Number(step ?? 1) < 1) return null;
    const range = star ? "*" : low === high ? `${low}` : `${low}-${high}`;
    return step === undefined
      ? range
      : `${range === `${low}` ? `${low}-${high}` : range}/${Number(step)}`;
  });
  return parts.includes(null) ? null : parts.join(",");
}

/** `Mon..Fri`, `Sat,Sun`; the week begins on Monday. Null for an unknown day, or a range that goes backwards. */
function weekdays(text: string): string | null {
  const numbers = new Set<number>();
  for (const part of text.replace(/,$/, "").toLowerCase().split(",")) {
    const [from = "", to = from, ...more] = part.split("..");
    const [first, last] = [dayOf(from), dayOf(to)];
    if (first < 0 || last < first || more.length > 0) return null;
    // Cron's week begins with Sunday.
    for (let day = first; day <= last; day++) numbers.add((day + 1) % 7);
  }
  return [...numbers].toSorted((a, b) => a - b).join(",");
}

const dayOf = (name: string): number => Math.max(DAYS.indexOf(name), LONG_DAYS.indexOf(name));
