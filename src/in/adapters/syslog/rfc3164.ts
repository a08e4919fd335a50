import { timeOf } from "../json.ts";
import type { SyslogBody } from "./shape.ts";

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const ZONES = "UTC|GMT|Z|CET|CEST|BST|EST|EDT|CST|CDT|MST|MDT|PST|PDT|JST|[+-]\\d{2}:?\\d{2}";
/** A message number, a mark of an unset clock, the time with or without a year, and its zone. */
const TIME = new RegExp(
  `^(?:\\d{1,10}: )?[*.]?(?:(\\d{4}) )?(${MONTHS.join("|")}) +(\\d{1,2}) (?:(\\d{4}) )?` +
    `(\\d{1,2}):(\\d{2}):(\\d{2})(?:[.,]\\d{1,9})?(?: (${ZONES})(?=:| |$))?:?(?: +|$)`,
);
const ISO_TIME = /^(?:\d{1,10}: )?[*.]?(\d{4}-\d{2}-\d{2}[Tt]\S{8,30}?):?(?: +|$)/;
const TAG = /^([^\s:[\]]{1,48})(?:\[([^\s\]]{1,64})\]:?|:)(?: +|$)/;
const LONE_TAG = /^[\w./()-]+\[\d+\]:?$/;
const CISCO = /^%([A-Z0-9_]{1,48}(?:-[A-Z0-9_]{1,48}){0,3}?)-([0-7])-([A-Z0-9_]{1,64}): ?/;

/**
 * The senders' local clock, for a time without a zone: from the local time, counted as if it were UTC, to the real
 * time, both in Unix seconds.
 */
export type SenderClock = (civil: number) => number;

/** Reads what follows the priority, in RFC 3164 and its many variants: each part may be missing. */
export function readOldSyslog(
  rest: string,
  { now, clock }: { now: number; clock?: SenderClock | undefined },
): SyslogBody {
  const time = readTime(rest, now, clock);
  if (time === null) return { at: null, host: "", more: [], ...readTag(rest) };
  const body = rest.slice(time.length);
  const [word = ""] = /^\S+/.exec(body) ?? [];
  const after = body.slice(word.length).trimStart();
  const { at } = time;
  if (word.includes(",")) {
    const device = word.replace(/:$/, "");
    const [host = ""] = device.split(",");
    return { at, host, more: [["device", device]], ...readTag(after) };
  }
  // Docker and some firewalls send no host.
  if (word.endsWith(":") || LONE_TAG.test(word))
    return { at, host: "", more: [], ...readTag(body) };
  return { at, host: word, more: [], ...readTag(after) };
}

function readTime(
  rest: string,
  now: number,
  clock: SenderClock | undefined,
): { at: number | null; length: number } | null {
  const iso = ISO_TIME.exec(rest);
  if (iso !== null) return { at: timeOf(iso[1]), length: iso[0].length };
  const found = TIME.exec(rest);
  if (found === null) return null;
  const [whole, before, month = "", day, after, hour, minute, second, zone] = found;
  const parts = [MONTHS.indexOf(month), day, hour, minute, second].map(Number);
  const year = before ?? after;
  const years = year === undefined ? yearsAround(now) : [Number(year)];
  const times = years.map((one) => secondsAt([one, ...parts], zone, clock));
  // A time without a year is the one nearest to now.
  times.sort((a, b) => Math.abs(a - now) - Math.abs(b - now));
  return { at: times[0] ?? null, length: whole.length };
}

function yearsAround(now: number): number[] {
  const year = new Date(now * 1000).getUTCFullYear();
  return [year - 1, year, year + 1];
}

/** A time without a zone, or with only a zone's name, is local to the senders: by default this machine's zone. */
function secondsAt(parts: readonly number[], zone = "", clock?: SenderClock): number {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})$/.exec(zone) ?? [];
  const offset = (Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60) * (sign === "-" ? -1 : 1);
  const isNamed = sign === undefined && !/^(UTC|GMT|Z)$/.test(zone);
  if (isNamed && clock !== undefined)
    return clock(Date.UTC(year, month, day, hour, minute, second) / 1000);
  const ms =
    sign !== undefined || /^(UTC|GMT|Z)$/.test(zone)
      ? Date.UTC(year, month, day, hour, minute, second) - offset * 1000
      : new Date(year, month, day, hour, minute, second).getTime();
  return Math.floor(ms / 1000);
}

/** `app[pid]: text`, or Cisco's `%FACILITY-SEVERITY-MNEMONIC: text`; else everything is text. */
function readTag(text: string) {
  const cisco = CISCO.exec(text);
  if (cisco !== null) {
    const [whole, app = "", severity, mnemonic = ""] = cisco;
    return {
      app,
      pid: "",
      msgid: "",
      data: [],
      more: [["mnemonic", mnemonic] as const],
      severity: Number(severity),
      text: text.slice(whole.length),
    };
  }
  const [whole = "", app = "", pid = ""] = TAG.exec(text) ?? [];
  return { app, pid, msgid: "", data: [], text: text.slice(whole.length) };
}
