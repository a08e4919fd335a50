/** What the ingest lane has to know of a request's head. */
export interface LaneHead {
  /** Bytes of the body. */
  length: number;
  /** The client wants the connection closed after the answer. */
  closes: boolean;
  authorization: string;
  contentType: string | undefined;
  forwardedFor: string | undefined;
}

const REQUEST_LINE = "POST /v1/ingest HTTP/1.1\r\n";

const NAME = /^[a-z\d-]+$/;
/** Visible ASCII with spaces inside, no tab: nothing that two readers could trim differently. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const LENGTH = /^(?:0|[1-9]\d{0,6})$/;
const MOST_FIELDS = 50;

/** Fields by which a request is read in another way than by its length, or its body is another. */
const NOT_HERE = new Set([
  "transfer-encoding",
  "te",
  "trailer",
  "expect",
  "upgrade",
  "http2-settings",
  "proxy-connection",
  "keep-alive",
  "content-encoding",
]);

/**
 * Reads a head (Latin-1, from the request line up to the empty line, without it) where it is one that no two
 * readers could understand in two ways: one of each field, one space behind the colon, a plain length (RFC 9112
 * §5, §6.3). Null for every other, which is Node's to read or to refuse.
 */
export function readLaneHead(text: string): LaneHead | null {
  if (!text.startsWith(REQUEST_LINE)) return null;
  const lines = text.slice(REQUEST_LINE.length).split("\r\n");
  if (lines.length > MOST_FIELDS) return null;
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(": ");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    const value = line.slice(colon + 2);
    if (!NAME.test(name) || !VALUE.test(value) || NOT_HERE.has(name) || fields.has(name))
      return null;
    fields.set(name, value);
  }
  const authorization = fields.get("authorization");
  const length = fields.get("content-length");
  const connection = fields.get("connection")?.toLowerCase() ?? "keep-alive";
  if (
    authorization === undefined ||
    length === undefined ||
    !LENGTH.test(length) ||
    !fields.has("host") ||
    (connection !== "keep-alive" && connection !== "close")
  )
    return null;
  return {
    length: Number(length),
    closes: connection === "close",
    authorization,
    contentType: fields.get("content-type"),
    forwardedFor: fields.get("x-forwarded-for"),
  };
}
