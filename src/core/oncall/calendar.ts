import type { Work } from "../../ground/kit/slices.ts";

/** A shift as a calendar shows it; times in Unix seconds. */
export interface CalendarShift {
  /** Who is on call, as people know them: an e-mail address. */
  email: string;
  starts_at: number;
  ends_at: number;
  /** Null under an override. */
  layer: string | null;
  account_id: string;
  /** Its id, with the shift's start, makes an event's lasting UID; of several that begin at once the further ones have their account's, too. */
  schedule: { id: string; name: string };
}

export interface CalendarInput {
  /** What it shows: a schedule's name, or a person's. */
  name: string;
  /** When this text was made, Unix seconds. */
  made_at: number;
  shifts: readonly CalendarShift[];
}

/** Most octets in a line, its break not counted (RFC 5545 §3.1). */
const LINE_OCTETS = 75;

/** A calendar must hold at least one component (RFC 5545 §3.4), so an empty one names its time zone. */
const NO_EVENTS = [
  "BEGIN:VTIMEZONE",
  "TZID:Etc/UTC",
  "BEGIN:STANDARD",
  "DTSTART:19700101T000000",
  "TZOFFSETFROM:+0000",
  "TZOFFSETTO:+0000",
  "END:STANDARD",
  "END:VTIMEZONE",
];

/** What writing one event costs beside a look at one layer. */
const EVENT_COST = 20;

/**
 * A schedule's shifts as an iCalendar object (RFC 5545), times in UTC: the body of a `text/calendar`
 * answer, in steps. The same shift keeps its UID from one fetch to the next.
 */
export function* followIcalendar(input: CalendarInput): Work<string> {
  const name = text(`On call: ${input.name}`);
  const head = [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//box//on-call schedule//EN",
    "CALSCALE:GREGORIAN",
    "METHOD:PUBLISH",
    `NAME:${name}`,
    `X-WR-CALNAME:${name}`,
    "REFRESH-INTERVAL;VALUE=DURATION:PT1H",
    "X-PUBLISHED-TTL:PT1H",
  ];
  let out = written(input.shifts.length === 0 ? [...head, ...NO_EVENTS] : head);
  const used = new Set<string>();
  for (const shift of input.shifts) {
    yield EVENT_COST;
    const start = `${shift.schedule.id}-${shift.starts_at}`;
    const uid = used.has(start) ? `${start}-${shift.account_id}` : start;
    used.add(start);
    out += written(event(shift, { uid, madeAt: input.made_at }));
  }
  return out + written(["END:VCALENDAR"]);
}

function written(lines: readonly string[]): string {
  return lines.map((line) => `${folded(line)}\r\n`).join("");
}

function event(shift: CalendarShift, { uid, madeAt }: { uid: string; madeAt: number }): string[] {
  const reason = shift.layer === null ? "Override" : `Layer: ${shift.layer}`;
  return [
    "BEGIN:VEVENT",
    `UID:${uid}@box`,
    `DTSTAMP:${utc(madeAt)}`,
    `DTSTART:${utc(shift.starts_at)}`,
    `DTEND:${utc(shift.ends_at)}`,
    `SUMMARY:${text(`${shift.email} on call (${shift.schedule.name})`)}`,
    `DESCRIPTION:${text(reason)}`,
    // Being on call doesn't make a person busy.
    "TRANSP:TRANSPARENT",
    "END:VEVENT",
  ];
}

/** An instant as `20260329T010000Z` (RFC 5545 §3.3.5, form 2). */
function utc(at: number): string {
  const iso = Temporal.Instant.fromEpochMilliseconds(at * 1000).toString();
  return iso.replace(/[-:]/g, "");
}

/** Escapes a TEXT value (RFC 5545 §3.3.11); control characters have no place in one and are dropped. */
function text(value: string): string {
  return value
    .replace(/[\\;,]/g, "\\$&")
    .replace(/\r\n|[\r\n\u0085\u2028\u2029]/g, "\\n")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

/** Breaks a long line between characters: each further line begins with a space (RFC 5545 §3.1). */
function folded(line: string): string {
  if (Buffer.byteLength(line) <= LINE_OCTETS) return line;
  let out = "";
  let octets = 0;
  for (const character of line) {
    const size = Buffer.byteLength(character);
    if (octets + size > LINE_OCTETS) {
      out += "\r\n ";
      octets = 1;
    }
    out += character;
    octets += size;
  }
  return out;
}
