import { ShapeBuffer } from "./buffer.ts";
import { HEADER } from "./chars.ts";
import { headerOf } from "./header.ts";
import { jsonShape } from "./json.ts";
import { logfmtPairs } from "./pairs.ts";
import { scanProse } from "./scan.ts";
import { withoutFrames } from "./trace.ts";
import { TEXT_KEYS } from "./words.ts";

/** Raised whenever the masking rules give a message another shape: the rows of an older set are carried over. */
export const minerRules = 1;

/** Only this much of a message shapes it (decisions §4), in UTF-16 units. */
const SHAPED = 4_096;
const BRACE = 123;

/** Gives messages their shapes. One for each miner; not re-entrant. */
export class Shaper {
  readonly #buffer = new ShapeBuffer();
  readonly #inner = new ShapeBuffer();

  /** The shape of a message: constants as they are, variables as one control character. */
  shapeOf(message: string): string {
    const buffer = this.#buffer;
    buffer.reset();
    const text = message.indexOf("\n") < 0 ? message : withoutFrames(message);
    const to = shapedEnd(text);
    const from = blanksEnd(text, 0);
    const header = headerOf(text, from);
    if (header.end > from) buffer.put(HEADER);
    this.#body(text, header.end, to);
    if (to < text.length) {
      buffer.blank();
      buffer.mask();
    }
    return buffer.toString();
  }

  #body(text: string, from: number, to: number): void {
    const buffer = this.#buffer;
    const pairs = logfmtPairs(text, from, to);
    if (pairs !== null) {
      const parts = pairs.map((pair) => {
        const isText = TEXT_KEYS.has(pair.key);
        return `${pair.key}=${isText ? this.#innerShape(text.slice(pair.from, pair.to)) : "\u0001"}`;
      });
      buffer.putText(parts.sort().join(" "));
      return;
    }
    const scan = { buffer, text, at: from, to, open: -1, pairs: [] as number[] };
    let start = from;
    for (;;) {
      const brace = jsonStart(text, start, to);
      const json =
        brace < 0
          ? null
          : jsonShape(
              brace === 0 && to === text.length ? text : text.slice(0, to),
              brace,
              (value) => this.#innerShape(value),
            );
      if (brace >= 0 && json === null) {
        start = brace + 1;
        continue;
      }
      scanProse({ ...scan, at: scan.at, to: json === null ? to : brace });
      if (json === null) break;
      if (brace > scan.at && text.charCodeAt(brace - 1) <= 32) buffer.blank();
      buffer.putText(json.shape);
      scan.at = json.end;
      start = json.end;
      if (scan.at < to && text.charCodeAt(scan.at) <= 32) buffer.blank();
    }
    sortPairs(buffer, scan.pairs);
  }

  #innerShape(text: string): string {
    const buffer = this.#inner;
    buffer.reset();
    scanProse({ buffer, text, at: blanksEnd(text, 0), to: text.length, open: -1, pairs: [] });
    return buffer.toString();
  }
}

/** The order of `key=value` at the end of a message doesn't tell. */
function sortPairs(buffer: ShapeBuffer, pairs: readonly number[]): void {
  if (pairs.length < 2) return;
  const start = pairs[0] as number;
  const parts = pairs.map((from, i) => buffer.slice(from, pairs[i + 1] ?? buffer.length).trimEnd());
  if (parts.some((part) => part.endsWith(",") || part.endsWith(";"))) return;
  buffer.length = start;
  buffer.putText(parts.sort().join(" "));
}

/** Where an object begins: a brace with a quote behind it; -1 for none. */
function jsonStart(text: string, from: number, to: number): number {
  for (let at = text.indexOf("{", from); at >= 0 && at < to; at = text.indexOf("{", at + 1)) {
    let next = at + 1;
    while (text.charCodeAt(next) <= 32) next++;
    if (text.charCodeAt(at) === BRACE && text.charCodeAt(next) === 34) return at;
  }
  return -1;
}

/** At most 4 KiB, cut behind a blank; a single longer token is left out whole. */
function shapedEnd(text: string): number {
  if (text.length <= SHAPED) return text.length;
  let at = SHAPED;
  while (at > 0 && text.charCodeAt(at) > 32) at--;
  return at;
}

function blanksEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}
