import { isAsciiDigit, isUpper } from "../text/classes.ts";
import { CLOSE_BRACKET, COLON, DASH, DOT, OPEN_BRACKET, SPACE } from "../text/codes.ts";
import { blanksEnd, bracketEnd, endsWithColon, type Fields, isCode, tokenEnd } from "./fields.ts";

/** The end of a header's last part: syslog's host and program, a framework's logger, `program - `. */
export function loggerEnd(text: string, fields: Fields & { bsd: boolean }): number {
  const at = blanksEnd(text, fields.end);
  const end = tokenEnd(text, at);
  if (end === at) return fields.end;
  if (fields.leveled) return frameworkEnd(text, at, end);
  if (text.charCodeAt(end - 1) === CLOSE_BRACKET) return end; // glog: `kubelet.go:123]`
  if (endsWithColon(text, end)) {
    return fields.bsd || isQualified(text, at, end - 1) ? end : fields.end;
  }
  return programEnd(text, { at, end, bsd: fields.bsd }) ?? fields.end;
}

/** After a level, only a name that is no plain word is a logger: `Retrying: …` is the message. */
function frameworkEnd(text: string, at: number, end: number): number {
  const colon = endsWithColon(text, end);
  const qualified = isQualified(text, at, colon ? end - 1 : end);
  if (colon) return qualified ? end : at;
  const next = blanksEnd(text, end);
  const sign = text.charCodeAt(next);
  const apart = text.charCodeAt(next + 1) === SPACE;
  if (sign === COLON && apart) return next + 1;
  if (sign === DASH && apart && (qualified || isCamel(text, at, end))) return next + 1;
  return qualified && sign === OPEN_BRACKET ? bracketEnd(text, next) : at;
}

/** `host prog[1]:`, `node-7 prog:`, `chrome.exe *64 - `; undefined when the message begins with these words. */
function programEnd(
  text: string,
  { at, end, bsd }: { at: number; end: number; bsd: boolean },
): number | undefined {
  const second = blanksEnd(text, end);
  const secondEnd = tokenEnd(text, second);
  if (secondEnd === second) return undefined;
  const dash = dashEnd(text, second);
  if (dash > second && isCode(text, at, end)) return dash;
  const named = endsWithColon(text, secondEnd) && secondEnd - second > 1;
  if (bsd) return named ? secondEnd : second;
  if (!named) return undefined;
  const known = text.charCodeAt(secondEnd - 2) === CLOSE_BRACKET || isCode(text, at, end);
  return known || text.startsWith("kernel:", second) ? secondEnd : undefined;
}

/** After a dash; one field with a digit can stand between the program and the dash. */
function dashEnd(text: string, from: number): number {
  let at = from;
  const first = tokenEnd(text, at);
  if (first - at > 1 && isCode(text, at, first)) at = blanksEnd(text, first);
  return text.charCodeAt(at) === DASH && text.charCodeAt(at + 1) === SPACE ? at + 1 : from;
}

/** Dotted, or with a process in brackets: `org.example.App`, `sshd[12]`. */
function isQualified(text: string, from: number, to: number): boolean {
  for (let i = from + 1; i < to - 1; i++) {
    const code = text.charCodeAt(i);
    if (code === OPEN_BRACKET || (code === DOT && !isAsciiDigit(text.charCodeAt(i + 1))))
      return true;
  }
  return false;
}

function isCamel(text: string, from: number, to: number): boolean {
  for (let i = from + 1; i < to; i++) {
    if (isUpper(text.charCodeAt(i)) && !isUpper(text.charCodeAt(i - 1))) return true;
  }
  return false;
}
