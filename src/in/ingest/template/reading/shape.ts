import { hash } from "node:crypto";
import { headerEnd } from "../header/header.ts";
import { scanProse } from "../prose/prose.ts";
import { type Scan, scanOf } from "../prose/scan.ts";
import { ShapeBuffer } from "../text/buffer.ts";
import { DOUBLE_QUOTE, OPEN_BRACE, SPACE } from "../text/codes.ts";
import { HEADER, REST, WILD } from "../text/marks.ts";
import { TEXT_KEYS } from "../text/words.ts";
import { jsonShape, type ShapeText } from "./json.ts";
import { logfmtPairs } from "./pairs.ts";
import { withoutFrames } from "./trace.ts";

const MOST_OBJECTS = 8;
const WILD_CHAR = String.fromCharCode(WILD);

/** Writes the shape of a message without its header: logfmt, or prose with JSON objects and `key=value` in it. */
function putBody(buffer: ShapeBuffer, text: string, from: number, shapeText: ShapeText): void {
  const pairs = logfmtPairs(text, from, text.length);
  if (pairs !== null) {
    const parts = pairs.map(({ key, from: start, to }) => {
      return `${key}=${TEXT_KEYS.has(key) ? `"${shapeText(text.slice(start, to))}"` : WILD_CHAR}`;
    });
    buffer.putText(parts.sort().join(" "));
    return;
  }
  const scan = scanOf(buffer, text, from);
  let brace = from;
  for (let found = 0; found < MOST_OBJECTS; found++) {
    brace = jsonStart(text, brace);
    if (brace < 0) break;
    const json = jsonShape(text, brace, shapeText);
    if (json === null) {
      brace++;
      continue;
    }
    scan.to = brace;
    scanProse(scan);
    if (brace > from && text.charCodeAt(brace - 1) <= SPACE) buffer.blank();
    buffer.putText(json.shape);
    scan.at = json.end;
    brace = json.end;
    if (text.charCodeAt(json.end) <= SPACE) buffer.blank();
  }
  scan.to = text.length;
  scanProse(scan);
  putPairs(scan);
}

/** Where an object begins: a brace followed by a quote; -1 for none. */
function jsonStart(text: string, from: number): number {
  for (let at = text.indexOf("{", from); at >= 0; at = text.indexOf("{", at + 1)) {
    let next = at + 1;
    while (text.charCodeAt(next) <= SPACE) next++;
    if (text.charCodeAt(at) === OPEN_BRACE && text.charCodeAt(next) === DOUBLE_QUOTE) return at;
  }
  return -1;
}

/** A series of `key=value` at the end, in any order; if all of them have a value, the values are variable. */
function putPairs({ buffer, pairs, empty }: Scan): void {
  if (pairs.length < 2) return;
  const start = pairs[0] as number;
  const parts = pairs.map((from, i) => buffer.slice(from, pairs[i + 1] ?? buffer.length).trimEnd());
  if (!parts.every(isWhole)) return;
  const shaped = empty ? parts : parts.map(masked);
  buffer.length = start;
  buffer.putText(shaped.sort().join(" "));
}

function masked(part: string): string {
  const key = part.slice(0, part.indexOf("="));
  return TEXT_KEYS.has(key) ? part : `${key}=${WILD_CHAR}`;
}

/** Whether a pair is complete: no comma after it, no unbalanced bracket. */
function isWhole(part: string): boolean {
  let depth = 0;
  for (const char of part) {
    if ("([{<".includes(char)) depth++;
    else if (")]}>".includes(char) && --depth < 0) return false;
  }
  return depth === 0 && !part.endsWith(",") && !part.endsWith(";");
}

/** Increase it when the masking or naming rules change shapes. It is stored with every shape. */
export const minerRules = 4;

/** Only this much of a message shapes it (contract §4), in UTF-16 units. */
const SHAPED = 4_096;

const REST_MARK = String.fromCharCode(REST);
/** The rest of a longer shape is hashed and not shown, so that ten thousand of them fit in memory. */
const LONGEST_SHAPE = 1_024;

/** Computes shapes. One for each miner; not re-entrant. */
export class Shaper {
  readonly #buffer = new ShapeBuffer();
  readonly #inner = new ShapeBuffer();
  readonly #shapeText = (text: string): string => this.#innerShape(text);

  /** The shape of a message: constants unchanged, each variable part as one control character. */
  shapeOf(message: string): string {
    const buffer = this.#buffer;
    buffer.reset();
    const whole = withoutFrames(withoutColours(message));
    const text = whole.length > SHAPED ? whole.slice(0, cutAt(whole)) : whole;
    const from = blanksEnd(text);
    const body = headerEnd(text, from);
    if (body > from) buffer.put(HEADER);
    putBody(buffer, text, body, this.#shapeText);
    if (text.length < whole.length) {
      buffer.blank();
      buffer.mask();
    }
    return clipped(buffer.toString());
  }

  /** The shape of a text inside a message: the value of a `msg`, a key of JSON. */
  #innerShape(text: string): string {
    const buffer = this.#inner;
    buffer.reset();
    const from = headerEnd(text, blanksEnd(text));
    scanProse(scanOf(buffer, text, from));
    return buffer.toString();
  }
}

/** A long shape is its beginning and a hash of the rest. */
function clipped(shape: string): string {
  if (shape.length <= LONGEST_SHAPE) return shape;
  const head = shape.slice(0, LONGEST_SHAPE).toWellFormed();
  return `${head}${REST_MARK}${hash("sha256", shape, "hex").slice(0, 32)}`;
}

/** Lone surrogates become U+FFFD, as in storage; a terminal's colours are removed. */
export function withoutColours(message: string): string {
  const whole = message.isWellFormed() ? message : message.toWellFormed();
  return whole.indexOf("\u001b[") < 0 ? whole : whole.replace(/\u001b\[[0-9;]*m/g, "");
}

/** Cuts at a blank within the first 4 KiB; a single longer token is left out. */
function cutAt(text: string): number {
  let at = SHAPED;
  while (at > 0 && text.charCodeAt(at) > SPACE) at--;
  return at;
}

function blanksEnd(text: string): number {
  let at = 0;
  while (at < text.length && text.charCodeAt(at) <= SPACE) at++;
  return at;
}
