import { isNameUnit } from "../text/classes.ts";
import { COLON, DOLLAR, DOT, SPACE, TAB } from "../text/codes.ts";

const MOST_CAUSES = 8;
const CAUSED = "\nCaused by: ";
const TRACEBACK = "Traceback (most recent call last)";

/**
 * The part of a message with a stack trace that shapes it (contract §4): the first line, the class above the frames and
 * each `Caused by` class; in a Python traceback the exception's line. Any other message is returned unchanged.
 */
export function withoutFrames(message: string): string {
  if (message.indexOf("\n") < 0) return message;
  const python = message.indexOf(TRACEBACK);
  if (python >= 0) return pythonShape(message, python);
  const firstFrame = frameStart(message);
  if (firstFrame < 0) return message;
  const parts = [lineAt(message, 0)];
  const above = message.lastIndexOf("\n", firstFrame - 1) + 1;
  if (above > 0 && above < firstFrame) addClass(parts, lineAt(message, above));
  let at = message.indexOf(CAUSED);
  while (at >= 0 && parts.length < MOST_CAUSES) {
    addClass(parts, lineAt(message, at + CAUSED.length), "Caused by: ");
    at = message.indexOf(CAUSED, at + 1);
  }
  return parts.join("\n");
}

/** The position of the line break before the first frame, or -1: `\tat …`, `    at …`, `goroutine 1 [running]:`. */
function frameStart(message: string): number {
  let at = message.indexOf("\n");
  for (let line = 0; at >= 0 && line < 64; line++) {
    let next = at + 1;
    while (message.charCodeAt(next) === SPACE || message.charCodeAt(next) === TAB) next++;
    if (next > at + 1 && (message.startsWith("at ", next) || message.startsWith("from ", next))) {
      return at;
    }
    if (message.startsWith("goroutine ", next) || message.startsWith("stack backtrace:", next)) {
      return at;
    }
    at = message.indexOf("\n", next);
  }
  return -1;
}

function addClass(parts: string[], line: string, prefix = ""): void {
  let end = 0;
  while (end < line.length && isClassPart(line.charCodeAt(end))) end++;
  const next = line.charCodeAt(end);
  if (end === 0 || (end < line.length && next !== COLON && next !== SPACE)) return;
  const name = line.slice(0, end);
  const telling = prefix !== "" || /(?:Exception|Error|Throwable|Failure)$/.test(name);
  if (telling) parts.push(prefix + name);
}

function isClassPart(code: number): boolean {
  return isNameUnit(code) || code === DOT || code === DOLLAR;
}

/** The last line that isn't indented names the exception; the text before the traceback stays. */
function pythonShape(message: string, at: number): string {
  const head = lineAt(message, 0);
  const before = at > 0 ? message.slice(0, Math.min(at, 4_096)).trimEnd() : "";
  const lead = before === "" ? "" : head.slice(0, before.length);
  let end = message.length;
  while (end > at) {
    const start = message.lastIndexOf("\n", end - 1) + 1;
    const line = message.slice(start, Math.min(end, start + 4_096)).trimEnd();
    if (start <= at) break;
    if (line !== "" && !/^[\s~^]/.test(line)) return lead === "" ? line : `${lead}\n${line}`;
    end = start - 1;
  }
  return head;
}

function lineAt(message: string, from: number): string {
  const end = message.indexOf("\n", from);
  const line = end < 0 ? message.slice(from) : message.slice(from, end);
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
