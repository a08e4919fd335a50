import { asText, type JsonFields, jsonOr, objectOf } from "../json.ts";

export interface EnvelopeItem {
  type: string;
  payload: Buffer;
}

interface Envelope {
  headers: JsonFields;
  items: readonly EnvelopeItem[];
  /** Why the bytes after the items can't be read; null where all could. */
  fault: string | null;
}

const LF = 0x0a;
/** Items that are read. */
const MOST_ITEMS = 1000;
/** Values in the headers of an item or envelope. */
const MOST_HEADERS = 1000;

/**
 * Reads an envelope: a line of headers, then items, each a line of headers and the number of bytes in it. Throws
 * UnreadableBody for headers with too many values.
 */
export function readEnvelope(body: Buffer): Envelope | null {
  const headers = headersOf(body);
  if (headers === null) return null;
  const items: EnvelopeItem[] = [];
  let at = endOfLine(body, 0) + 1;
  while (at < body.length) {
    if (items.length === MOST_ITEMS) return { headers, items, fault: "too many items" };
    const end = endOfLine(body, at);
    // Empty lines between items, and at the end, are skipped.
    if (end === at) {
      at++;
      continue;
    }
    const item = objectOf(jsonOr(body.subarray(at, end), MOST_HEADERS));
    const type = asText(item?.["type"]);
    if (item === null || type === "") return { headers, items, fault: "an item has no headers" };
    const from = Math.min(end + 1, body.length);
    const to = payloadEnd(body, from, item["length"]);
    if (to === null) return { headers, items, fault: "an item is not as long as it says" };
    items.push({ type, payload: body.subarray(from, to) });
    at = to + 1;
  }
  return { headers, items, fault: null };
}

/** The envelope's headers. Throws UnreadableBody for too many values. */
export function headersOf(body: Buffer): JsonFields | null {
  return objectOf(jsonOr(body.subarray(0, endOfLine(body, 0)), MOST_HEADERS));
}

function endOfLine(body: Buffer, from: number): number {
  const at = body.indexOf(LF, from);
  return at === -1 ? body.length : at;
}

function payloadEnd(body: Buffer, from: number, length: unknown): number | null {
  if (length === undefined || length === null) return endOfLine(body, from);
  if (!Number.isSafeInteger(length) || (length as number) < 0) return null;
  const to = from + (length as number);
  return to === body.length || body[to] === LF ? to : null;
}
