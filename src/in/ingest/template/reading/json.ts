import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  DOUBLE_QUOTE,
  OPEN_BRACE,
  OPEN_BRACKET,
  SPACE,
} from "../text/codes.ts";
import { WILD } from "../text/marks.ts";
import { TEXT_KEYS } from "../text/words.ts";

const DEEPEST = 8;
const MOST_KEYS = 128;
const WILD_CHAR = String.fromCharCode(WILD);

/** Makes the shape of the text in a JSON string, or of a key with digits. */
export type ShapeText = (text: string) => string;

interface JsonShape {
  shape: string;
  /** The position after the closing brace; the end of the text when that is missing. */
  end: number;
}

/**
 * The shape of a JSON object in a message: keys are constant and sorted, values variable, except the event's own text
 * (`msg`, `message`, `event` …), which is treated like a message. Null when it is no JSON object.
 */
export function jsonShape(text: string, from: number, shapeText: ShapeText): JsonShape | null {
  const reader: Reader = { text, at: from, shapeText };
  const shape = objectShape(reader, 0);
  return shape === null ? null : { shape, end: reader.at };
}

interface Reader {
  readonly text: string;
  at: number;
  readonly shapeText: ShapeText;
}

function objectShape(reader: Reader, depth: number): string | null {
  const members: string[] = [];
  reader.at++;
  for (;;) {
    skipBlanks(reader);
    if (reader.at >= reader.text.length) break;
    const code = reader.text.charCodeAt(reader.at);
    if (code === CLOSE_BRACE) {
      reader.at++;
      break;
    }
    if (code === COMMA && members.length > 0) {
      reader.at++;
      continue;
    }
    if (code !== DOUBLE_QUOTE) return null;
    const member = memberShape(reader, depth);
    if (member === null) return null;
    if (members.length < MOST_KEYS) members.push(member);
  }
  return `{${distinct(members.sort()).join(",")}}`;
}

function memberShape(reader: Reader, depth: number): string | null {
  const key = string(reader);
  skipBlanks(reader);
  if (reader.at >= reader.text.length) return `"${safeKey(reader, key)}":${WILD_CHAR}`;
  if (reader.text.charCodeAt(reader.at) !== COLON) return null;
  reader.at++;
  skipBlanks(reader);
  const value = valueShape(reader, depth + 1, TEXT_KEYS.has(key));
  return value === null ? null : `"${safeKey(reader, key)}":${value}`;
}

/** A key that is itself an id, an address or a number is variable. */
function safeKey(reader: Reader, key: string): string {
  const shape = reader.shapeText(key);
  return shape.includes(WILD_CHAR) ? WILD_CHAR : shape;
}

function valueShape(reader: Reader, depth: number, isText: boolean): string | null {
  const code = reader.text.charCodeAt(reader.at);
  if (code === DOUBLE_QUOTE) {
    const value = string(reader);
    return isText ? `"${reader.shapeText(value)}"` : WILD_CHAR;
  }
  if (code === OPEN_BRACE && depth < DEEPEST) return objectShape(reader, depth);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return skipNested(reader);
  while (reader.at < reader.text.length && !endsScalar(reader.text.charCodeAt(reader.at))) {
    reader.at++;
  }
  return WILD_CHAR;
}

function endsScalar(code: number): boolean {
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= SPACE;
}

/** An array, or an object that is nested too deeply: one value, whatever is in it. */
function skipNested(reader: Reader): string {
  let depth = 0;
  while (reader.at < reader.text.length) {
    const code = reader.text.charCodeAt(reader.at);
    if (code === DOUBLE_QUOTE) {
      string(reader);
      continue;
    }
    if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++;
    reader.at++;
    if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) break;
  }
  return WILD_CHAR;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** Reads a string with its escapes; one without an end goes to the end of the text. */
function string(reader: Reader): string {
  const { text } = reader;
  let start = ++reader.at;
  let value = "";
  while (reader.at < text.length) {
    const code = text.charCodeAt(reader.at);
    if (code === DOUBLE_QUOTE) {
      value += text.slice(start, reader.at++);
      return value;
    }
    if (code !== BACKSLASH) {
      reader.at++;
      continue;
    }
    const mark = text.charAt(reader.at + 1);
    value += text.slice(start, reader.at);
    if (mark === "u") value += String.fromCharCode(hex4(text, reader.at + 2));
    else value += ESCAPES[mark] ?? mark;
    reader.at = Math.min(text.length, reader.at + (mark === "u" ? 6 : 2));
    start = reader.at;
  }
  return value + text.slice(start, reader.at);
}

function hex4(text: string, from: number): number {
  const code = Number.parseInt(text.slice(from, from + 4), 16);
  return Number.isNaN(code) ? 0xfffd : code;
}

function skipBlanks(reader: Reader): void {
  while (reader.at < reader.text.length && reader.text.charCodeAt(reader.at) <= SPACE) reader.at++;
}

function distinct(sorted: string[]): string[] {
  return sorted.filter((member, i) => member !== sorted[i - 1]);
}
