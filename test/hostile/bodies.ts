import { gzipSync, zstdCompressSync } from "node:zlib";
import type { InRequest } from "../../src/in/adapters/adapter.ts";
import { unsnappy } from "../../src/in/adapters/loki/snappy.ts";
import { seeded } from "../support/seeded.ts";

/** Bodies made to be dear: what senders write, with one place of it grown to a size in ways that cost a reader most. */

export interface DearBody {
  what: string;
  /** Made when it is needed: all of them together fill a memory. */
  make(): Buffer;
  /** In place of the sample's own. */
  type?: string;
}

const times = (text: string, bytes: number) =>
  text.repeat(Math.max(1, Math.floor(bytes / Math.max(1, text.length))));
const listed = (bytes: number, each: number, one: (i: number) => string) =>
  Array.from({ length: Math.max(1, Math.floor(bytes / each)) }, (_, i) => one(i)).join(",");

const WORDS = 'a=b k1="v 2" <b>x</b> &amp; {"k":1} \\ é\n';

/** Fragments of JSON about so long. */
export const fillers: Readonly<Record<string, (bytes: number) => string>> = {
  "empty objects": (bytes) => `[${times("{},", bytes)}{}]`,
  "names of its own": (bytes) => `{${listed(bytes, 10, (i) => `"k${i.toString(36)}":1`)}}`,
  "objects of names": (bytes) => `{${listed(bytes, 16, (i) => `"k${i.toString(36)}":{"a":1}`)}}`,
  shapes: (bytes) => `[${listed(bytes, 12, (i) => `{"k${i.toString(36)}":1}`)}]`,
  numbers: (bytes) => `[${times("1.5e3,", bytes)}7]`,
  texts: (bytes) => `[${listed(bytes, 8, (i) => `"${i.toString(36)}"`)}]`,
  pairs: (bytes) => `[${times('["1","x"],', bytes)}["1","x"]]`,
  "named values": (bytes) =>
    `[${listed(bytes, 48, (i) => `{"key":"k${i}","value":{"stringValue":"x"}}`)}]`,
  depth: (bytes) => `[${times(`${"[".repeat(50)}${"]".repeat(50)},`, bytes)}1]`,
  "a long text": (bytes) => JSON.stringify(times(WORDS, bytes * 0.8)),
  "a text of escapes": (bytes) => `"${times("\\u00e9\\n", bytes)}"`,
  "a text of JSON": (bytes) => JSON.stringify(`[${times("{},", bytes)}{}]`),
};

const MARK = "\u0001grows";
const MOST_PLACES = 40;

/** The value with a mark in each of its places in turn. */
function* marked(value: unknown): Generator<{ place: string; whole: unknown; was: unknown }> {
  yield { place: "", whole: MARK, was: value };
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value))
    for (const { place, whole, was } of marked(inner)) {
      const changed = Array.isArray(value)
        ? value.map((item, i) => (String(i) === name ? whole : item))
        : { ...value, [name]: whole };
      yield { place: `/${name}${place}`, whole: changed, was };
    }
}

/** JSON with each of its places grown in each way. */
export function* dearJson(value: unknown, bytes: number): Generator<DearBody> {
  let places = 0;
  for (const { place, whole, was } of marked(value)) {
    if (++places > MOST_PLACES) return;
    const text = JSON.stringify(whole);
    const made = (what: string, filler: (bytes: number) => string): DearBody => ({
      what: `${what} at ${place || "its root"}`,
      make: () =>
        Buffer.from(text.replace(JSON.stringify(MARK), () => filler(bytes - text.length))),
    });
    for (const [what, filler] of Object.entries(fillers)) yield made(what, filler);
    if (Array.isArray(was) && was.length > 0) {
      const one = JSON.stringify(was[0]);
      yield made("elements", (size) => `[${times(`${one},`, size)}${one}]`);
    }
  }
}

interface WireField {
  from: number;
  start: number;
  end: number;
}

/** Fields of bytes in a message; null where it is none. */
function fieldsOf(message: Buffer): WireField[] | null {
  const fields: WireField[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = message[at++];
      if (byte === undefined || unit > 2 ** 49) return -1;
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const from = at;
    const tag = varint();
    if (tag < 8) return null;
    if (tag % 8 === 0) varint();
    else if (tag % 8 === 1) at += 8;
    else if (tag % 8 === 5) at += 4;
    else if (tag % 8 !== 2) return null;
    else {
      const length = varint();
      if (length < 0 || length > message.length - at) return null;
      fields.push({ from, start: at, end: at + length });
      at += length;
    }
    if (at > message.length) return null;
  }
  return fields;
}

function varintOf(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}

function withInner(message: Buffer, { from, end }: WireField, inner: Buffer): Buffer {
  const tag = message.subarray(from, from + 1);
  const before = message.subarray(0, from);
  return Buffer.concat([before, tag, varintOf(inner.length), inner, message.subarray(end)]);
}

const copies = (bytes: Buffer, size: number) =>
  Buffer.concat(
    Array<Buffer>(Math.max(1, Math.floor(size / Math.max(1, bytes.length)))).fill(bytes),
  );

/** Protobuf with each of its fields repeated, lengthened and filled with tiny ones. */
export function* dearProtobuf(message: Buffer, bytes: number, place = ""): Generator<DearBody> {
  const fields = fieldsOf(message) ?? [];
  for (const [i, field] of fields.slice(0, 8).entries()) {
    const here = `${place}/${i}`;
    const inner = message.subarray(field.start, field.end);
    const whole = message.subarray(field.from, field.end);
    const before = message.subarray(0, field.end);
    const after = message.subarray(field.end);
    const more = () => Buffer.concat([before, copies(whole, bytes), after]);
    yield { what: `fields ${here}`, make: more };
    for (const [what, tiny] of [
      ["empty fields", Buffer.from([0x0a, 0])],
      ["numbers", Buffer.from([0x10, 1])],
      ["empty metadata", Buffer.from([0x1a, 0])],
      ["text", Buffer.from("a=b ")],
    ] as const)
      yield {
        what: `${what} in ${here}`,
        make: () => withInner(message, field, copies(tiny, bytes)),
      };
    if ((fieldsOf(inner) ?? []).length > 0)
      for (const { what, make } of dearProtobuf(inner, bytes, here))
        yield { what, make: () => withInner(message, field, make()) };
  }
}

/** A block of snappy without copies. */
function plainSnappy(bytes: Buffer): Buffer {
  const out = [varintOf(bytes.length)];
  for (let at = 0; at < bytes.length; at += 65_536) {
    const piece = bytes.subarray(at, at + 65_536);
    out.push(Buffer.from([61 << 2, (piece.length - 1) & 255, (piece.length - 1) >> 8]), piece);
  }
  return Buffer.concat(out);
}

const FORM = "application/x-www-form-urlencoded";
const PART = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\nx\r\n';

/** What any door may get, whatever it is for. */
export function dearAnyway(bytes: number): DearBody[] {
  const text = (what: string, make: () => string, type?: string): DearBody => ({
    what,
    make: () => Buffer.from(make()),
    ...(type === undefined ? {} : { type }),
  });
  const again = (what: string, one: string, type?: string) =>
    text(what, () => times(one, bytes), type);
  return [
    again("a list that isn't one", "{},"),
    text("a list of nothing", () => `[${times("{},", bytes)}{}]`),
    again("lines of nothing", "\n"),
    again("lines of a letter", "a\n"),
    again("lines of objects", "{}\n"),
    again("a form", "a=1&", FORM),
    text("a form of JSON", () => `payload=[${times("{},", bytes)}{}]`, FORM),
    again("a form of parts", PART, "multipart/form-data; boundary=b"),
    text("XML", () => `<a>${times("<b c='d'>e</b>", bytes)}</a>`, "text/xml"),
    again("open tags", "<a ", "text/html"),
    again("comments", "<!--", "text/html"),
    again("entities", "&#65;&amp;", "text/html"),
    again("brackets", "["),
    again("quotes", '"\\'),
  ];
}

/** All of these for a request as its sender writes it. */
export function* dearBodies(sample: InRequest, bytes: number): Generator<DearBody> {
  const text = sample.body.toString();
  const value = parsed(text);
  const type = sample.header("content-type") ?? "";
  if (value !== undefined) yield* dearJson(value, bytes);
  else if (type.includes("protobuf")) {
    const isBlock = fieldsOf(sample.body) === null;
    const message = isBlock ? unsnappy(sample.body, 1e6) : sample.body;
    for (const { what, make } of dearProtobuf(message, bytes))
      yield { what, make: () => (isBlock ? plainSnappy(make()) : make()) };
  } else {
    yield { what: "the same again", make: () => Buffer.from(times(text, bytes)) };
    yield* dearLines(text, bytes);
  }
  yield* dearAnyway(bytes);
}

/** Each line that is JSON, grown. */
function* dearLines(text: string, bytes: number): Generator<DearBody> {
  const lines = text.split("\n");
  for (const [i, line] of lines.slice(0, 6).entries()) {
    const value = parsed(line);
    if (typeof value !== "object") continue;
    for (const { what, make } of dearJson(value, bytes))
      yield {
        what: `${what} of line ${i}`,
        make: () => Buffer.from(lines.with(i, make().toString()).join("\n")),
      };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** White space, which is nothing to most readers, that compresses to a quarter. */
const random = seeded(7);
const spaces = Array.from({ length: 20_000 }, () => " \n\t\r"[Math.floor(random() * 4)]).join("");

/** The body as it is sent, with so much behind it that it compresses no better than the doors let through. */
export function packed(body: Buffer, encoding: "gzip" | "zstd" | "identity"): Buffer {
  if (encoding === "identity") return body;
  // One that is not within the window of what is to be found again.
  const behind = Buffer.from(spaces.repeat(Math.ceil(body.length / 40 / spaces.length)));
  for (let at = 0; at < behind.length; at += 7) behind[at] = random() < 0.5 ? 0x20 : 0x09;
  const padded = Buffer.concat([body, behind]);
  return encoding === "gzip" ? gzipSync(padded, { level: 1 }) : zstdCompressSync(padded);
}
