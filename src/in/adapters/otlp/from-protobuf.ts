import type { WatchedKeys } from "../adapter.ts";
import { BrokenProtobuf, type OnField, readProtobuf } from "../protobuf.ts";
import { type OtlpRecord, secondsOfNanos } from "./record.ts";

const DEPTH = 64;
/** Attributes of one object, and values of one list, that are read; above that, only those that rules use. */
const MOST_PAIRS = 256;
const MOST_VALUES = 2048;
/** Levels of nested objects that become keys. */
const DEEPEST = 8;
/** Bytes of a key that a rule can name. */
const LONGEST_KEY = 4 * 256;
const KEY_TAG = 0x0a;

/** The records of an ExportLogsServiceRequest, at most `most` and one more. Throws BrokenProtobuf. */
export function recordsOfProtobuf(
  body: Buffer,
  { most, watched }: { most: number; watched: WatchedKeys },
): OtlpRecord[] {
  const records: OtlpRecord[] = [];
  let known: ReadonlySet<string> | null = null;
  const late: Late = () => {
    known ??= spansOf(watched());
    return known;
  };
  within(body, 1, (resourceLogs) => {
    const resource = fields();
    const add = adder(resource, 0, late);
    within(resourceLogs, 1, (bytes) => within(bytes, 1, add));
    within(resourceLogs, 2, (scopeLogs) => {
      let scope = "";
      within(scopeLogs, 1, (bytes) => {
        within(bytes, 1, (name) => {
          scope = name.toString();
        });
      });
      within(scopeLogs, 2, (bytes) => {
        if (records.length <= most) records.push(readRecord(bytes, { resource, scope }, late));
      });
    });
  });
  return records;
}

function within(message: Buffer, wanted: number, on: (bytes: Buffer) => void): void {
  readProtobuf(message, (field, _number, bytes) => {
    if (field === wanted) on(bytes);
  });
}

const fields = (): Record<string, unknown> => Object.create(null);

/** The names that are read above the limit. */
type Late = () => ReadonlySet<string>;

/** Every part of a dotted name that can be one attribute's name in a nested object. */
function spansOf(names: ReadonlySet<string>): Set<string> {
  const spans = new Set<string>();
  for (const name of names) {
    const parts = name.split(".");
    for (let from = 0; from < Math.min(parts.length, DEEPEST); from++)
      for (let end = from + 1; end <= parts.length; end++)
        spans.add(parts.slice(from, end).join("."));
  }
  return spans;
}

function readRecord(
  message: Buffer,
  around: Pick<OtlpRecord, "resource" | "scope">,
  late: Late,
): OtlpRecord {
  const attributes = fields();
  const record = {
    ...around,
    attributes,
    body: null as unknown,
    severity: 0,
    severityText: "",
    at: null as number | null,
    traceId: "",
    spanId: "",
    eventName: "",
  };
  const add = adder(attributes, 0, late);
  let observed: number | null = null;
  const on: OnField = (field, number, bytes) => {
    if (field === 1) record.at = secondsOfNanos(String(number));
    else if (field === 2) record.severity = Number(number);
    else if (field === 3) record.severityText = bytes.toString();
    else if (field === 5) record.body = readValue(bytes, 0, late);
    else if (field === 6) add(bytes);
    else if (field === 9) record.traceId = bytes.toString("hex");
    else if (field === 10) record.spanId = bytes.toString("hex");
    else if (field === 11) observed = secondsOfNanos(String(number));
    else if (field === 12) record.eventName = bytes.toString();
  };
  readProtobuf(message, on);
  record.at ??= observed;
  return record;
}

/** Adds pairs to `to`: up to the limit all, above it those with a late name. */
function adder(to: Record<string, unknown>, depth: number, late: Late): (pair: Buffer) => void {
  let left = MOST_PAIRS;
  let key = "";
  let value: unknown = null;
  const on: OnField = (field, _number, bytes) => {
    if (field === 1) key = bytes.toString();
    else if (field === 2) value = readValue(bytes, depth, late);
  };
  return (pair) => {
    if (left-- <= 0 && !(late().size > 0 && late().has(keyOf(pair)))) return;
    key = "";
    value = null;
    readProtobuf(pair, on);
    to[key] = value;
  };
}

/** A pair's name. Every encoder writes it first, a short one with a length of one byte. */
function keyOf(pair: Buffer): string {
  const length = pair[1] ?? 0;
  if (pair[0] !== KEY_TAG || length >= 128) return longKeyOf(pair);
  return pair.toString("utf8", 2, 2 + length);
}

function longKeyOf(pair: Buffer): string {
  let key = "";
  within(pair, 1, (bytes) => {
    if (bytes.length <= LONGEST_KEY) key = bytes.toString();
  });
  return key;
}

function readValue(message: Buffer, depth: number, late: Late): unknown {
  if (depth > DEPTH) throw new BrokenProtobuf();
  let value: unknown = null;
  readProtobuf(message, (field, number, bytes) => {
    if (field === 1) value = bytes.toString();
    else if (field === 2) value = number !== 0n;
    else if (field === 3) value = wholeNumber(BigInt.asIntN(64, number));
    else if (field === 4) value = doubleOf(number);
    else if (field === 5) value = readList(bytes, depth + 1, late);
    else if (field === 6) value = readMap(bytes, depth + 1, late);
    else if (field === 7) value = bytes.toString("base64");
  });
  return value;
}

/** A number if it is exact, else the digits. */
function wholeNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

function doubleOf(bits: bigint): number {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(bits);
  return bytes.readDoubleLE();
}

function readList(message: Buffer, depth: number, late: Late): unknown[] {
  const list: unknown[] = [];
  within(message, 1, (bytes) => {
    if (list.length < MOST_VALUES) list.push(readValue(bytes, depth, late));
  });
  return list;
}

function readMap(message: Buffer, depth: number, late: Late): Record<string, unknown> {
  const map = fields();
  within(message, 1, adder(map, depth, late));
  return map;
}
