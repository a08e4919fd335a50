import type { Rejected } from "../adapter.ts";
import { asText, type JsonFields, listOf, objectOf } from "../json.ts";
import { type OtlpRecord, secondsOfNanos } from "./record.ts";

/** The records of a request in JSON, at most `most` and one more. Field names in camelCase or snake_case. */
export function recordsOfJson(request: JsonFields, most: number) {
  const records: OtlpRecord[] = [];
  const rejected: Rejected[] = [];
  for (const resourceLogs of objects(field(request, "resourceLogs"))) {
    const resource = pairsOf(field(objectOf(resourceLogs["resource"]) ?? {}, "attributes"));
    for (const scopeLogs of objects(field(resourceLogs, "scopeLogs"))) {
      const scope = asText(objectOf(scopeLogs["scope"])?.["name"]);
      for (const element of listOf(field(scopeLogs, "logRecords")) ?? []) {
        if (records.length + rejected.length > most) return { records, rejected };
        const record = readJsonRecord(element, { resource, scope });
        if ("reason" in record) rejected.push(record);
        else records.push(record);
      }
    }
  }
  return { records, rejected };
}

/** The Collector's decoder accepts snake_case, too. */
function field(fields: JsonFields, name: string): unknown {
  return fields[name] ?? fields[name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

function objects(value: unknown): JsonFields[] {
  return (listOf(value) ?? []).map(objectOf).filter((one) => one !== null);
}

function readJsonRecord(
  element: unknown,
  around: Pick<OtlpRecord, "resource" | "scope">,
): OtlpRecord | Rejected {
  const fields = objectOf(element);
  if (fields === null) return { reason: "a log record must be an object" };
  const severity = field(fields, "severityNumber") ?? 0;
  if (!/^\d{1,9}$/.test(asText(severity))) return { reason: "severityNumber must be an integer" };
  const text = (name: string) => asText(field(fields, name));
  return {
    ...around,
    attributes: pairsOf(fields["attributes"]),
    body: anyValueOf(fields["body"]),
    severity: Number(severity),
    severityText: text("severityText"),
    eventName: text("eventName"),
    at:
      secondsOfNanos(field(fields, "timeUnixNano")) ??
      secondsOfNanos(field(fields, "observedTimeUnixNano")),
    traceId: text("traceId").toLowerCase(),
    spanId: text("spanId").toLowerCase(),
  };
}

function pairsOf(value: unknown): Record<string, unknown> {
  const pairs: Record<string, unknown> = Object.create(null);
  for (const pair of objects(value)) pairs[asText(pair["key"])] = anyValueOf(pair["value"]);
  return pairs;
}

/** An AnyValue: the name of its only field is its type. The JSON's depth is bounded. */
function anyValueOf(value: unknown): unknown {
  const fields = objectOf(value);
  if (fields === null) return null;
  const whole = field(fields, "intValue");
  if (whole !== undefined) return wholeOf(asText(whole));
  const array = objectOf(field(fields, "arrayValue"));
  if (array !== null) return (listOf(array["values"]) ?? []).map(anyValueOf);
  const map = objectOf(field(fields, "kvlistValue"));
  if (map !== null) return pairsOf(map["values"]);
  for (const name of ["stringValue", "boolValue", "doubleValue", "bytesValue"]) {
    const plain = field(fields, name);
    if (typeof plain !== "object" && plain !== undefined) return plain;
  }
  return null;
}

function wholeOf(text: string): number | string {
  return Number.isSafeInteger(Number(text)) && text !== "" ? Number(text) : text;
}
