import type { IngestEvent } from "../../ingest/event.ts";
import { fitted } from "../fit.ts";
import { flattened } from "../flatten.ts";
import { asText, type JsonFields, objectOf } from "../json.ts";
import { levelOfWord } from "../levels.ts";
import { LINE_LEVEL } from "../line.ts";
import type { WatchedKeys } from "../watched.ts";

/** A log record of OpenTelemetry with what stands around it, from either encoding. */
export interface OtlpRecord {
  resource: JsonFields;
  /** The name of what wrote it. */
  scope: string;
  attributes: JsonFields;
  /** Text, a number, a list, or an object. */
  body: unknown;
  /** 1 to 24; 0 where it isn't said. */
  severity: number;
  severityText: string;
  /** Unix seconds. */
  at: number | null;
  traceId: string;
  spanId: string;
  eventName: string;
}

const MESSAGES = ["message", "msg", "event", "exception.message"];
const STACK = "exception.stacktrace";
const LEVELS = [100, 100, 200, 300, 400, 500];

/** Of each thing that records came from, once: many may be of the same. */
const known = new WeakMap<object, [string, string][]>();

function pairsOf(resource: JsonFields, watched: WatchedKeys): [string, string][] {
  const pairs = known.get(resource) ?? flattened(resource, watched);
  known.set(resource, pairs);
  return pairs;
}

/** The record as an event. */
export function otlpEvent(record: OtlpRecord, watched: WatchedKeys): IngestEvent {
  const { resource, attributes, body, severityText } = record;
  const environment =
    resource["deployment.environment.name"] ?? resource["deployment.environment"] ?? "";
  const fields = objectOf(body);
  const named = fields === null ? undefined : MESSAGES.find((name) => asText(fields[name]) !== "");
  const others = named === undefined ? {} : { ...fields, [named]: null };
  const said = { scope: record.scope, trace_id: record.traceId, span_id: record.spanId };
  return fitted(
    {
      message: messageOf(record, named),
      level: levelOf(record),
      keys: [
        ...pairsOf(resource, watched),
        ...flattened(others, watched),
        ...flattened({ ...attributes, [STACK]: null }, watched),
        ...Object.entries({ ...said, event_name: record.eventName, severity: severityText }).filter(
          ([, text]) => text !== "",
        ),
      ],
      tags: ["otlp", asText(environment)],
      details: asText(attributes[STACK]),
      occurredAt: record.at,
    },
    watched,
  );
}

function messageOf({ body, attributes, eventName }: OtlpRecord, named: string | undefined): string {
  const fields = objectOf(body);
  if (fields !== null && named !== undefined) return asText(fields[named]);
  const isObject = typeof body === "object" && body !== null;
  const text = isObject ? JSON.stringify(body) : asText(body);
  if (text.trim() !== "" && text !== "{}") return text;
  if (eventName !== "") return eventName;
  const thrown = ["exception.type", "exception.message"].map((name) => asText(attributes[name]));
  return thrown.filter((part) => part !== "").join(": ") || "(empty)";
}

function levelOf({ severity, severityText }: OtlpRecord): number {
  if (severity < 1 || severity > 24) return levelOfWord(severityText) ?? LINE_LEVEL;
  return LEVELS[Math.floor((severity - 1) / 4)] ?? LINE_LEVEL;
}

/** Unix seconds of nanoseconds, as text or number; null for none. */
export function secondsOfNanos(value: unknown): number | null {
  const seconds = Math.floor(Number(asText(value) || 0) / 1e9);
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : null;
}
