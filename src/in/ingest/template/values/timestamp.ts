import { isAsciiDigit, isAsciiLetter, isUpper } from "../text/classes.ts";
import {
  CLOSE_BRACKET,
  CLOSE_PAREN,
  COLON,
  COMMA,
  DASH,
  DOT,
  PLUS,
  SLASH,
  SPACE,
  UNDERSCORE,
  UPPER_T,
  UPPER_Z,
} from "../text/codes.ts";
import { MONTHS, WEEKDAYS, ZONES } from "../text/words.ts";

/**
 * The end of a time stamp that starts at `from`, or `from` for none. Knows ISO 8601 and similar formats, syslog's, C's
 * `ctime`, the access log's, compact dates, Unix seconds and milliseconds, glog's, and a time of day alone.
 */
export function timestampEnd(text: string, from: number): number {
  const first = text.charCodeAt(from);
  const end = isAsciiDigit(first) ? numericEnd(text, from) : namedEnd(text, from);
  return end === from ? from : zoneEnd(text, end);
}

function numericEnd(text: string, from: number): number {
  const time = timeEnd(text, from);
  if (time > from && text.charCodeAt(from + 2) !== DOT) return time; // 10.45.22.126 is an address
  const date = dateEnd(text, from);
  if (date > from) {
    const joint = text.charCodeAt(date);
    const joins =
      joint === SPACE ||
      joint === UPPER_T ||
      joint === UNDERSCORE ||
      joint === DASH ||
      joint === COLON;
    const after = joins ? timeEnd(text, date + 1) : date + 1;
    return after > date + 1 ? after : date;
  }
  return compactEnd(text, from);
}

/** `20:10:40`, `20:10:40.123`, `20:10:40,123`, `22:15:29:606`, `15.42.50.363779`. */
function timeEnd(text: string, from: number): number {
  const hour = digitsEnd(text, from);
  if (hour === from || hour - from > 2) return from;
  const sign = text.charCodeAt(hour);
  if (sign !== COLON && sign !== DOT) return from;
  const minute = digitsEnd(text, hour + 1);
  const short = minute - hour === 2 && sign === COLON && text.charCodeAt(minute) === COLON;
  if (minute - hour !== 3 && !short) return from;
  if (text.charCodeAt(minute) !== sign) return sign === COLON ? noWord(text, minute, from) : from;
  const second = digitsEnd(text, minute + 1);
  if (second - minute !== 3 && (second - minute !== 2 || sign !== COLON)) return from;
  const dot = text.charCodeAt(second);
  const fraction = dot === DOT || dot === COMMA || dot === COLON ? digitsEnd(text, second + 1) : 0;
  return fraction > second + 1 ? fraction : noWord(text, second, from);
}

function noWord(text: string, at: number, otherwise: number): number {
  const code = text.charCodeAt(at);
  return isAsciiLetter(code) && code !== UPPER_Z ? otherwise : at;
}

/** `2024-01-02`, `17/06/09`, `2005.06.03`, `10/Oct/2024`, `10 Dec 2024`; `03-17` and `10.30` where a time follows. */
function dateEnd(text: string, from: number): number {
  const first = digitsEnd(text, from);
  const sign = text.charCodeAt(first);
  if (first - from > 4 || (sign !== DASH && sign !== SLASH && sign !== DOT && sign !== SPACE)) {
    return from;
  }
  let second = digitsEnd(text, first + 1);
  if (second === first + 1) {
    second = wordEnd(text, first + 1);
    if (!MONTHS.has(text.slice(first + 1, second))) return from;
  } else if (second - first > 3 || sign === SPACE) return from;
  if (text.charCodeAt(second) === sign) {
    const third = digitsEnd(text, second + 1);
    const width = third - second - 1;
    return width === 2 || width === 4 || (width === 1 && first - from === 4) ? third : from;
  }
  const isShort = first - from === 2 && second - first === 3 && text.charCodeAt(second) === SPACE;
  return isShort && timeEnd(text, second + 1) > second + 1 ? second : from;
}

/** `20171223-22:15:29`, `081109 203615`, Unix seconds (with a fraction or not) and milliseconds. */
function compactEnd(text: string, from: number): number {
  const end = digitsEnd(text, from);
  const width = end - from;
  const sign = text.charCodeAt(end);
  if (width === 8 && (sign === DASH || sign === UPPER_T || sign === SPACE || sign === UNDERSCORE)) {
    const time = timeEnd(text, end + 1);
    if (time > end + 1) return time;
    return sign === UPPER_T && digitsEnd(text, end + 1) === end + 7 ? end + 7 : from;
  }
  if (width === 6 && sign === SPACE && digitsEnd(text, end + 1) === end + 7) return end + 7;
  if (width === 10 || width === 13) {
    const fraction = sign === DOT ? digitsEnd(text, end + 1) : end;
    return isAsciiLetter(text.charCodeAt(fraction)) ? from : fraction;
  }
  return from;
}

/** `Jun 14 15:16:01`, `Sun Dec 04 04:47:44 2005`, `Mon, 02 Jan 2006 15:04:05`, `I0102 15:04:05.123456`. */
function namedEnd(text: string, from: number): number {
  if (!isUpper(text.charCodeAt(from))) return from;
  let end = wordEnd(text, from);
  const width = end - from;
  if (width === 1 && digitsEnd(text, end) === end + 4 && text.charCodeAt(end + 4) === SPACE) {
    const time = timeEnd(text, end + 5);
    return "IWEFD".includes(text.charAt(from)) && time > end + 5 ? time : from;
  }
  if (width < 3 || width > 9) return from;
  const word = text.slice(from, end);
  if (WEEKDAYS.has(word)) {
    if (text.charCodeAt(end) === COMMA) end++;
    const rest = blanksEnd(text, end);
    if (rest === end) return from;
    if (isAsciiDigit(text.charCodeAt(rest))) {
      const date = numericEnd(text, rest);
      return date === rest ? from : date;
    }
    end = namedEnd(text, rest);
    return end === rest ? from : end;
  }
  return MONTHS.has(word) ? monthEnd(text, { from, end }) : from;
}

function monthEnd(text: string, month: { from: number; end: number }): number {
  const day = blanksEnd(text, month.end);
  const dayEnd = digitsEnd(text, day);
  if (day === month.end || dayEnd === day || dayEnd - day > 2) return month.from;
  let end = text.charCodeAt(dayEnd) === COMMA ? dayEnd + 1 : dayEnd;
  if (text.charCodeAt(end) !== SPACE) return month.from;
  const leading = yearEnd(text, end + 1);
  if (leading > end + 1) end = leading;
  const time = timeEnd(text, end + 1);
  if (time === end + 1) return leading > end ? end : month.from;
  const zone = zoneEnd(text, time);
  const trailing = text.charCodeAt(zone) === SPACE ? yearEnd(text, zone + 1) : zone;
  return trailing > zone + 1 ? trailing : time;
}

function yearEnd(text: string, from: number): number {
  const end = digitsEnd(text, from);
  const next = text.charCodeAt(end);
  const ends = !(next > SPACE) || next === CLOSE_BRACKET || next === CLOSE_PAREN || next === COMMA;
  return end - from === 4 && ends ? end : from;
}

/** `Z`, `+02:00`, ` +0000`, ` UTC`, ` PDT`, directly after a time. */
function zoneEnd(text: string, from: number): number {
  let at = from;
  if (text.charCodeAt(at) === UPPER_Z) return at + 1;
  if (text.charCodeAt(at) === SPACE) at++;
  const code = text.charCodeAt(at);
  if (code === PLUS || code === DASH) {
    const hours = digitsEnd(text, at + 1);
    const width = hours - at - 1;
    if (width === 4) return hours;
    if (width === 2 && text.charCodeAt(hours) === COLON) return digitsEnd(text, hours + 1);
    return from;
  }
  if (at === from || !isAsciiLetter(code)) return from;
  const end = wordEnd(text, at);
  return end - at <= 4 && ZONES.has(text.slice(at, end)) ? end : from;
}

export function digitsEnd(text: string, from: number): number {
  let at = from;
  while (isAsciiDigit(text.charCodeAt(at))) at++;
  return at;
}

function wordEnd(text: string, from: number): number {
  let at = from;
  while (at - from < 12 && isAsciiLetter(text.charCodeAt(at))) at++;
  return at;
}

function blanksEnd(text: string, from: number): number {
  let at = from;
  while (text.charCodeAt(at) === SPACE) at++;
  return at;
}
