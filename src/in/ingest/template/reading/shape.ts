import { hash } from "node:crypto";
import { headerEnd } from "../header/header.ts";
import { scanProse } from "../prose/prose.ts";
import { scanOf } from "../prose/scan.ts";
import { ShapeBuffer } from "../text/buffer.ts";
import { SPACE } from "../text/codes.ts";
import { HEADER, REST } from "../text/marks.ts";
import { putBody } from "./body.ts";
import { withoutFrames } from "./trace.ts";

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
