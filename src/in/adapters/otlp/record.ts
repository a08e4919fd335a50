import type { SourceOptions } from "../../../core/projects/source.ts";
import type { IngestEvent } from "../../ingest/event.ts";
import type { WatchedKeys } from "../adapter.ts";
import { fitted } from "../fit.ts";
import { flattened } from "../flatten.ts";
import { asText, type JsonFields, objectOf } from "../json.ts";
import { jsonOfLine, LINE_LEVEL, levelInText, levelOfFields, levelOfValue } from "../line.ts";

/** A log record of OpenTelemetry with its resource and scope, from either encoding. */
export interface OtlpRecord {
  resource: JsonFields;
  /** The name of the library that wrote it. */
  scope: string;
  attributes: JsonFields;
  /** Text, a number, a list, or an object. */
  body: unknown;
  /** 1 to 24; 0 where missing. */
  severity: number;
  severityText: string;
  at: number | null;
  traceId: string;
  spanId: string;
  eventName: string;
}

const MESSAGES = ["message", "msg", "log", "event", "exception.message"];
const LEVEL_NAMES = ["level", "severity", "lvl", "log.level", "severity_text"];
const STACK = "exception.stacktrace";
const LEVELS = [100, 100, 200, 300, 400, 500];

/** Cached for each resource, because many records share one. */
const known = new WeakMap<object, [string, string][]>();

function pairsOf(resource: JsonFields, watched: WatchedKeys): [string, string][] {
  return known.getOrInsertComputed(resource, () => flattened(resource, watched));
}

export function otlpEvent(
  record: OtlpRecord,
  { options, watched }: { options: SourceOptions; watched: WatchedKeys },
): IngestEvent {
  const { resource, attributes, severityText } = record;
  const environment =
    resource["deployment.environment.name"] ?? resource["deployment.environment"] ?? "";
  const fields = fieldsOf(record.body);
  const named = fields === null ? undefined : MESSAGES.find((name) => asText(fields[name]) !== "");
  const others = named === undefined ? {} : { ...fields, [named]: null };
  const said = { scope: record.scope, trace_id: record.traceId, span_id: record.spanId };
  return fitted(
    {
      message: asText(fields?.[named ?? ""]) || messageOf(record),
      level: levelOf(record, fields, options),
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

/** The body's fields, also of JSON that a collector read as a line: `{"log": "{…}"}`. */
function fieldsOf(body: unknown): JsonFields | null {
  const fields = typeof body === "string" ? jsonOfLine(body) : objectOf(body);
  const inner = jsonOfLine(asText(fields?.["log"]));
  return inner === null ? fields : { ...fields, log: null, ...inner };
}

function messageOf({ body, attributes, eventName }: OtlpRecord): string {
  const isObject = typeof body === "object" && body !== null;
  const text = isObject ? JSON.stringify(body) : asText(body);
  if (text.trim() !== "" && text !== "{}") return text;
  if (eventName !== "") return eventName;
  const thrown = ["exception.type", "exception.message"].map((name) => asText(attributes[name]));
  return thrown.filter((part) => part !== "").join(": ") || "(empty)";
}

/** The level of the record, else of an attribute, its body, or a level word at its beginning, as for Loki. */
function levelOf(
  { severity, severityText, attributes, body }: OtlpRecord,
  fields: JsonFields | null,
  options: SourceOptions,
): number {
  if (severity >= 1 && severity <= 24) return LEVELS[Math.floor((severity - 1) / 4)] ?? LINE_LEVEL;
  const said = [severityText, ...LEVEL_NAMES.map((name) => attributes[name])];
  const found = said.map(levelOfValue).find((level) => level !== null);
  if (found !== undefined) return found;
  if (options.level_from_text === false) return LINE_LEVEL;
  const line = typeof body === "string" ? body : asText(fields?.["log"] ?? fields?.["message"]);
  return (fields && levelOfFields(fields)) ?? levelInText(line) ?? LINE_LEVEL;
}

/** Unix seconds of nanoseconds, as text or number; null for none. */
export function secondsOfNanos(value: unknown): number | null {
  const seconds = Math.floor(Number(asText(value) || 0) / 1e9);
  return Number.isSafeInteger(seconds) && seconds > 0 ? seconds : null;
}
