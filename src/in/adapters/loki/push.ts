import { eventLimits } from "../../ingest/event.ts";
import type { Rejected, WatchedKeys } from "../adapter.ts";
import { asText, type JsonFields, listOf, objectOf, textPairs } from "../json.ts";
import { readProtobuf } from "../protobuf.ts";

type Pairs = readonly (readonly [string, string])[];

/** One more than an event holds, so that `fitted` sees that some are missing. */
const MOST_LABELS = eventLimits.keys + 1;
const LONGEST_LABEL = eventLimits.value + 1;

/** A stream's labels, which each of its lines repeats: as many as an event holds, and those that rules use. */
function bounded(labels: Pairs, watched: WatchedKeys): Pairs {
  const kept =
    labels.length <= MOST_LABELS
      ? labels
      : labels.filter(([name], i) => i < MOST_LABELS || watched().has(name));
  return kept.map(([name, text]) => [name, text.slice(0, LONGEST_LABEL)] as const);
}

/** The number of entries to read, and the keys that rules use. */
interface Bounds {
  most: number;
  watched: WatchedKeys;
}

/** A log line with the labels of its stream and of itself. */
export interface LokiEntry {
  labels: Pairs;
  metadata: Pairs;
  line: string;
  /** Unix seconds; null where missing. */
  at: number | null;
}

/** The entries of a push, at most one more than allowed. */
export interface LokiPush {
  entries: LokiEntry[];
  rejected: Rejected[];
}

/** A push in JSON, also in the form before Loki 1.0: labels as text, entries as objects. */
export function pushOfJson(body: JsonFields, { most, watched }: Bounds): LokiPush {
  const push: LokiPush = { entries: [], rejected: [] };
  for (const stream of listOf(body["streams"]) ?? []) {
    const fields = objectOf(stream);
    if (fields === null) {
      push.rejected.push({ reason: "a stream must be an object" });
      continue;
    }
    const labels = bounded(
      fields["stream"]
        ? textPairs(fields["stream"])
        : labelsOf(asText(fields["labels"]), push.rejected),
      watched,
    );
    for (const value of listOf(fields["values"]) ?? listOf(fields["entries"]) ?? []) {
      if (push.entries.length + push.rejected.length > most) return push;
      const entry = entryOf(value, labels);
      if ("reason" in entry) push.rejected.push(entry);
      else push.entries.push(entry);
    }
  }
  return push;
}

function entryOf(value: unknown, labels: Pairs): LokiEntry | Rejected {
  const old = objectOf(value);
  if (old !== null && typeof old["line"] === "string") {
    const ms = Date.parse(asText(old["ts"]));
    const at = Number.isNaN(ms) ? null : Math.floor(ms / 1000);
    return { labels, metadata: [], line: old["line"], at };
  }
  const [nanos, line, metadata] = Array.isArray(value) ? value : [];
  if (typeof line !== "string") return { reason: "an entry must be [nanoseconds, line]" };
  return { labels, metadata: textPairs(metadata), line, at: seconds(Number(asText(nanos)) / 1e9) };
}

const seconds = (value: number) =>
  Number.isSafeInteger(Math.floor(value)) && value > 0 ? Math.floor(value) : null;

/** A push in protobuf. Throws BrokenProtobuf. */
export function pushOfProtobuf(body: Buffer, { most, watched }: Bounds): LokiPush {
  const push: LokiPush = { entries: [], rejected: [] };
  readProtobuf(body, (field, _number, stream) => {
    if (field !== 1) return;
    let labels: Pairs = [];
    readProtobuf(stream, (inner, _inner, bytes) => {
      if (inner === 1) labels = bounded(labelsOf(bytes.toString(), push.rejected), watched);
      else if (inner === 2 && push.entries.length <= most)
        push.entries.push(entryOfProtobuf(bytes, labels, watched));
    });
  });
  return push;
}

function entryOfProtobuf(message: Buffer, labels: Pairs, watched: WatchedKeys): LokiEntry {
  const metadata: [string, string][] = [];
  const entry: LokiEntry = { labels, metadata, line: "", at: null };
  readProtobuf(message, (field, _number, bytes) => {
    if (field === 2) entry.line = bytes.toString();
    else if (field === 1)
      readProtobuf(bytes, (inner, number) => {
        if (inner === 1) entry.at = seconds(Number(number));
      });
    else if (field === 3) {
      const pair: [string, string] = ["", ""];
      readProtobuf(bytes, (inner, _inner, text) => {
        if (inner === 1 || inner === 2) pair[inner - 1] = text.toString();
      });
      if (metadata.length < MOST_LABELS || watched().has(pair[0])) metadata.push(pair);
    }
  });
  return entry;
}

const LABEL = /\s*([A-Za-z_][\w.:]{0,255})\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|(?=\}))/y;

/** `{a="b", c="d"}` with Go's quoting; what can't be read is left out and added to `rejected`. */
function labelsOf(text: string, rejected: Rejected[]): Pairs {
  const pairs: [string, string][] = [];
  let at = text.startsWith("{") ? 1 : 0;
  for (;;) {
    LABEL.lastIndex = at;
    const [whole = "", name = "", value = ""] = LABEL.exec(text) ?? [];
    if (whole === "") break;
    pairs.push([name, unquoted(value)]);
    at += whole.length;
  }
  if (text.slice(at).trim() !== "}") rejected.push({ reason: "labels that can't be read" });
  return pairs;
}

function unquoted(value: string): string {
  try {
    return String(JSON.parse(`"${value}"`));
  } catch {
    return value.replaceAll(/\\(.)/g, "$1");
  }
}
