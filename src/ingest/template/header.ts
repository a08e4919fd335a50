import { isAsciiDigit, isAsciiLetter, isUpper } from "./chars.ts";
import { digitsEnd, timestampEnd } from "./timestamp.ts";
import { LEVELS } from "./words.ts";

const BAR = 124;
const COLON = 58;
const DASH = 45;
const OPEN = 91;
const CLOSE = 93;
const LONGEST_TOKEN = 80;
const MOST_FIELDS = 14;

/** What a line's own header takes up. */
export interface Header {
  /** Where the message proper begins; where it was asked to look when there is no header. */
  end: number;
  /** The program or logger that the header names; empty when it names none. */
  component: string;
}

const NONE = "";

/**
 * Recognises the header that a program or a collector puts before a message: priority, time stamps, host, process,
 * thread, level, logger. Only a line with a time stamp among its first fields has one.
 */
export function headerOf(text: string, from: number): Header {
  if (!mayBeHeader(text.charCodeAt(from))) return { end: from, component: NONE };
  const start = priorityEnd(text, from);
  if (start - from > 3 && text.charCodeAt(start - 1) === 32) {
    const end = syslogEnd(text, start);
    if (end > start) return { end, component: NONE };
  }
  const stamped = firstStamp(text, start);
  if (stamped < 0) return { end: from, component: NONE };
  const fields = fieldsEnd(text, stamped);
  if (isBareCount(text, start, stamped) && fields.end === stamped)
    return { end: from, component: NONE };
  const header = componentEnd(text, { ...fields, bsd: isAsciiLetter(text.charCodeAt(start)) });
  const blank = blanksEnd(text, header.end);
  return blank >= text.length ? { end: from, component: NONE } : { ...header, end: blank };
}

/** RFC 5424: time stamp, host, program, process, message id, structured data. */
function syslogEnd(text: string, from: number): number {
  let at = from;
  for (let field = 0; field < 5; field++) {
    const end = tokenEnd(text, at);
    if (end === at) return from;
    at = blanksEnd(text, end);
  }
  while (text.charCodeAt(at) === OPEN) {
    const end = bracketEnd(text, at);
    if (end === at) return from;
    at = end;
  }
  if (text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === 32) at++;
  at = blanksEnd(text, at);
  return at < text.length ? at : from;
}

/** Unix seconds alone are as likely a count. */
function isBareCount(text: string, from: number, to: number): boolean {
  return digitsEnd(text, from) === to;
}

/** Most messages begin with a word that can't begin a header. */
function mayBeHeader(code: number): boolean {
  if (isAsciiDigit(code) || code === OPEN || code === DASH || code === 60) return true;
  return isAsciiLetter(code);
}

function priorityEnd(text: string, from: number): number {
  if (text.charCodeAt(from) !== 60) return from;
  const end = digitsEnd(text, from + 1);
  if (end === from + 1 || end - from > 4 || text.charCodeAt(end) !== 62) return from;
  const versioned = isAsciiDigit(text.charCodeAt(end + 1)) && text.charCodeAt(end + 2) === 32;
  return versioned ? end + 3 : end + 1;
}

/** Behind the first time stamp; before it stand at most four fields that are numbers, dashes, hosts or dotted names. */
function firstStamp(text: string, from: number): number {
  let at = from;
  for (let field = 0; field < 5; field++) {
    const end = stampEnd(text, at);
    if (end > at) return end;
    const next = tokenEnd(text, at);
    if (next === at || !isCode(text, at, next)) return -1;
    at = blanksEnd(text, next);
    if (field === 0 && text.charCodeAt(at) === DASH) {
      const access = accessEnd(text, at);
      if (access > at) return access;
    }
  }
  return -1;
}

/** `- alice [10/Oct/2024:13:55:36 +0000]`, behind an address. */
function accessEnd(text: string, from: number): number {
  const user = blanksEnd(text, from + 1);
  const stamp = blanksEnd(text, tokenEnd(text, user));
  return text.charCodeAt(stamp) === OPEN ? stampEnd(text, stamp) : from;
}

/** A time stamp, bare or in brackets, up to the blank or bar behind it. */
function stampEnd(text: string, from: number): number {
  const bracketed = text.charCodeAt(from) === OPEN;
  const start = bracketed ? from + 1 : from;
  const end = timestampEnd(text, start);
  if (end === start) return from;
  const next = text.charCodeAt(end);
  if (bracketed) {
    if (next === CLOSE) return end + 1;
    const close = next === 32 ? bracketEnd(text, from) : from;
    return close;
  }
  if (next === 44 || next === COLON) return isBlankOrEnd(text.charCodeAt(end + 1)) ? end + 1 : from;
  return isBlankOrEnd(next) || next === BAR || next === CLOSE ? end : from;
}

function isBlankOrEnd(code: number): boolean {
  return !(code > 32);
}

/** A field that can't be prose: with a digit, or dotted, or a dash. */
function isCode(text: string, from: number, to: number): boolean {
  if (to - from === 1 && text.charCodeAt(from) === DASH) return true;
  let telling = false;
  for (let i = from; i < to; i++) {
    const code = text.charCodeAt(i);
    if (isAsciiDigit(code)) telling = true;
    else if (code === 46 && i + 1 < to) telling = true;
    else if (code === 61 || code === 34 || code === 40 || code === 44) return false;
  }
  return telling && text.charCodeAt(to - 1) !== COLON;
}

interface Fields {
  end: number;
  leveled: boolean;
}

/** More time stamps, numbers, dashes, bracketed fields and the level. */
function fieldsEnd(text: string, from: number): Fields {
  let at = text.charCodeAt(from) === BAR ? barsEnd(text, from) : from;
  let leveled = false;
  for (let field = 0; field < MOST_FIELDS; field++) {
    const start = blanksEnd(text, at);
    const end = fieldEnd(text, start, leveled);
    if (end === start) break;
    if (isLevel(text, start, end)) leveled = true;
    at = end;
  }
  return { end: at, leveled };
}

/** `…|Component|1234|`: fields between bars. */
function barsEnd(text: string, from: number): number {
  let at = from;
  for (let field = 0; field < 2; field++) {
    let next = at + 1;
    while (next - at < LONGEST_TOKEN && text.charCodeAt(next) > 32) {
      if (text.charCodeAt(next) === BAR) break;
      next++;
    }
    if (text.charCodeAt(next) !== BAR) break;
    at = next;
  }
  return at + 1;
}

function fieldEnd(text: string, from: number, leveled: boolean): number {
  const code = text.charCodeAt(from);
  if (code === OPEN) return bracketEnd(text, from);
  const end = tokenEnd(text, from);
  if (end === from) return from;
  if (end - from === 1 && (code === DASH || code === BAR)) return end;
  if (leveled) return isThread(text, from, end) ? end : from;
  const stamp = stampEnd(text, from);
  if (stamp > from) return stamp;
  if (isLevel(text, from, end)) return end;
  if (digitsEnd(text, from) === end && end - from <= 10) return end;
  if (code > 90 && end - from > 1 && !isCode(text, from, end)) return from;
  return levelAhead(text, from) ? end : from;
}

/** Between a level and a thread: `7 --- [main]`. */
function isThread(text: string, from: number, end: number): boolean {
  if (text.startsWith("---", from)) return end - from === 3;
  return digitsEnd(text, from) === end && text.startsWith(" --- ", end);
}

/** Whether a level or another time stamp follows behind nothing but ids and words in capitals. */
function levelAhead(text: string, from: number): boolean {
  let at = from;
  for (let field = 0; field < 5; field++) {
    const end = tokenEnd(text, at);
    if (end === at) return false;
    if (field > 0 && (isLevel(text, at, end) || stampEnd(text, at) > at)) return true;
    if (!isCode(text, at, end) && !allCapitals(text, at, end)) return false;
    at = blanksEnd(text, end);
  }
  return false;
}

function allCapitals(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (!isUpper(text.charCodeAt(i)) && text.charCodeAt(i) !== 95) return false;
  }
  return true;
}

function isLevel(text: string, from: number, to: number): boolean {
  let end = to;
  if (text.charCodeAt(end - 1) === COLON || text.charCodeAt(end - 1) === 44) end--;
  if (text.charCodeAt(from) === OPEN) return LEVELS.has(text.slice(from + 1, end - 1));
  if (end - from === 1) return "DIWEVFT".includes(text.charAt(from)) && end === to;
  return end - from <= 11 && LEVELS.has(text.slice(from, end));
}

/** The host and program of syslog, the logger of a framework, `program - `. */
function componentEnd(text: string, fields: Fields & { bsd: boolean }): Header {
  let at = blanksEnd(text, fields.end);
  let end = tokenEnd(text, at);
  if (fields.leveled) return loggerEnd(text, at, end);
  if (text.charCodeAt(end - 1) === CLOSE) return { end, component: nameOf(text, at, end - 1) }; // glog
  const second = blanksEnd(text, end);
  const secondEnd = tokenEnd(text, second);
  if (!endsWithColon(text, end) && secondEnd > second) {
    const dash = dashEnd(text, second);
    if (dash > second && isCode(text, at, end))
      return { end: dash, component: text.slice(at, end) };
    if (!fields.bsd && !isProgram(text, { at, end, second, secondEnd })) {
      return { end: fields.end, component: NONE };
    }
    at = second;
    end = secondEnd;
    if (!endsWithColon(text, end)) return { end: at, component: NONE };
  }
  const name = endsWithColon(text, end) ? nameOf(text, at, end - 1) : NONE;
  if (name === NONE) return { end: fields.end, component: NONE };
  const known = fields.bsd || at > fields.end + 1 || name.length < end - 1 - at;
  return known || name.includes(".")
    ? { end, component: name }
    : { end: fields.end, component: NONE };
}

/** `host prog[1]:`, `node-7 prog:`, `host kernel:`; `Connection failed:` is the message. */
function isProgram(
  text: string,
  { at, end, second, secondEnd }: { at: number; end: number; second: number; secondEnd: number },
): boolean {
  if (!endsWithColon(text, secondEnd) || secondEnd - second < 2) return false;
  if (text.charCodeAt(secondEnd - 2) === CLOSE || isCode(text, at, end)) return true;
  return text.slice(second, secondEnd) === "kernel:";
}

/** Behind a level only a name that is no plain word is a logger's: `Retrying: …` is the message. */
function loggerEnd(text: string, at: number, end: number): Header {
  const colon = endsWithColon(text, end);
  const name = nameOf(text, at, colon ? end - 1 : end);
  const next = blanksEnd(text, end);
  const dotted = name.includes(".") && !name.endsWith(".");
  if (colon && (dotted || name.length < end - 1 - at)) return { end, component: name };
  const sign = text.charCodeAt(next);
  const dashed = (sign === DASH || sign === COLON) && text.charCodeAt(next + 1) === 32;
  if (dashed && end > at) return { end: next + 1, component: name };
  if (dotted && text.charCodeAt(next) === OPEN) {
    return { end: bracketEnd(text, next), component: name };
  }
  return { end: at, component: NONE };
}

/** Behind a dash; between the program and it may stand one field with a digit: `chrome.exe *64 - `. */
function dashEnd(text: string, from: number): number {
  let at = from;
  const first = tokenEnd(text, at);
  if (first - at > 1 && isCode(text, at, first)) at = blanksEnd(text, first);
  return text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === 32 ? at + 1 : from;
}

function nameOf(text: string, from: number, to: number): string {
  const bracket = text.indexOf("[", from);
  return text.slice(from, bracket > from && bracket < to ? bracket : to);
}

function endsWithColon(text: string, end: number): boolean {
  return text.charCodeAt(end - 1) === COLON;
}

function tokenEnd(text: string, from: number): number {
  let at = from;
  while (at - from < LONGEST_TOKEN && text.charCodeAt(at) > 32) at++;
  return at - from === LONGEST_TOKEN ? from : at;
}

function blanksEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9) at++;
  return at;
}

/** Behind the bracket that closes the one at `from`; `from` when it doesn't close soon. */
function bracketEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < from + 200 && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OPEN) depth++;
    else if (code === CLOSE && --depth === 0) {
      return text.charCodeAt(at + 1) === COLON ? at + 2 : at + 1;
    }
  }
  return from;
}
