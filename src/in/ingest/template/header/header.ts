import { isAsciiDigit, isAsciiLetter } from "../text/classes.ts";
import { DASH, GREATER, LESS, OPEN_BRACKET, SPACE } from "../text/codes.ts";
import { digitsEnd } from "../values/timestamp.ts";
import { blanksEnd, bracketEnd, fieldsEnd, isCode, stampEnd, tokenEnd } from "./fields.ts";
import { loggerEnd } from "./logger.ts";

/**
 * Where the message begins, after the header of a program or collector: priority, time stamps, host, process, thread,
 * level, logger. Only a line with a time stamp among its first fields has one; for others it is `from`.
 */
export function headerEnd(text: string, from: number): number {
  if (!mayBeHeader(text.charCodeAt(from))) return from;
  const start = priorityEnd(text, from);
  if (start - from > 3 && text.charCodeAt(start - 1) === SPACE) {
    const end = syslogEnd(text, start);
    if (end > start) return end;
  }
  const stamped = firstStamp(text, start);
  if (stamped < 0) return from;
  const fields = fieldsEnd(text, stamped);
  const isBareCount = digitsEnd(text, start) === stamped && fields.end === stamped;
  if (isBareCount) return from; // Unix seconds alone are as likely a count
  const bsd = isAsciiLetter(text.charCodeAt(start));
  const end = blanksEnd(text, loggerEnd(text, { ...fields, bsd }));
  return end >= text.length ? from : end;
}

/** Most messages begin with a sign or a small letter, and no header does. */
function mayBeHeader(code: number): boolean {
  return (
    isAsciiDigit(code) ||
    isAsciiLetter(code) ||
    code === OPEN_BRACKET ||
    code === DASH ||
    code === LESS
  );
}

/** RFC 5424: time stamp, host, program, process, message id, structured data. */
function syslogEnd(text: string, from: number): number {
  let at = from;
  for (let field = 0; field < 5; field++) {
    const end = tokenEnd(text, at);
    if (end === at) return from;
    at = blanksEnd(text, end);
  }
  while (text.charCodeAt(at) === OPEN_BRACKET) {
    const end = bracketEnd(text, at);
    if (end === at) return from;
    at = end;
  }
  if (text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === SPACE) at++;
  at = blanksEnd(text, at);
  return at < text.length ? at : from;
}

function priorityEnd(text: string, from: number): number {
  if (text.charCodeAt(from) !== LESS) return from;
  const end = digitsEnd(text, from + 1);
  if (end === from + 1 || end - from > 4 || text.charCodeAt(end) !== GREATER) return from;
  const versioned = isAsciiDigit(text.charCodeAt(end + 1)) && text.charCodeAt(end + 2) === SPACE;
  return versioned ? end + 3 : end + 1;
}

/** The end of the first time stamp. At most four fields come before it: numbers, dashes, hosts or dotted names. */
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

/** `- alice [10/Oct/2024:13:55:36 +0000]`, after an address. */
function accessEnd(text: string, from: number): number {
  const user = blanksEnd(text, from + 1);
  const stamp = blanksEnd(text, tokenEnd(text, user));
  return text.charCodeAt(stamp) === OPEN_BRACKET ? stampEnd(text, stamp) : from;
}
