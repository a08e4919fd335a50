import type { IngestEvent } from "../../ingest/event.ts";
import type { InRequest, WatchedKeys } from "../adapter.ts";
import { fitted } from "../fit.ts";
import { flattened } from "../flatten.ts";
import { asText, type JsonFields, jsonOr, listOf, objectOf, objectsIn, timeOf } from "../json.ts";
import { ALERT_LEVEL } from "../levels.ts";
import { mapped } from "../mapping/apply.ts";
import { guessed } from "../mapping/guess.ts";

const MOST_DIMENSIONS = 30;

/** A topic's message: a CloudWatch alarm, another service's JSON, whose fields are guessed, or text. */
export function snsEvents(
  said: { text: string; subject: string; topic: string },
  request: InRequest,
): IngestEvent[] {
  const { text, subject, topic } = said;
  const fields = fieldsOf(text);
  if (fields === null) {
    const [line = ""] = text.trim().split("\n");
    const message = subject || line.trim();
    const title = subject;
    const details = message === text.trim() ? "" : text;
    const keys = [["topic", topic]] as const;
    const level = ALERT_LEVEL;
    return [fitted({ message, title, level, keys, tags: ["sns"], details }, request.watched)];
  }
  if (asText(fields["AlarmName"]) !== "" && asText(fields["NewStateValue"]) !== "")
    return [alarmEvent(fields, topic, request.watched)];
  const changed = stateChange(fields);
  if (changed !== null) return [alarmEvent(changed, topic, request.watched)];
  const title = subject || asText(fields["detail-type"]);
  const named = title !== "" && guessed(fields).used.length === 0 ? { message: title } : {};
  const root = { ...named, topic, ...fields };
  return mapped(root, { mapping: null, request, tag: "sns" }).events;
}

function fieldsOf(text: string): JsonFields | null {
  if (!text.trimStart().startsWith("{")) return null;
  return objectOf(jsonOr(Buffer.from(text)));
}

/** EventBridge's event of an alarm's change, in the format of the alarm's own message; null for other events. */
function stateChange(fields: JsonFields): JsonFields | null {
  const detail = objectOf(fields["detail"]);
  const state = objectOf(detail?.["state"]);
  if (asText(detail?.["alarmName"]) === "" || asText(state?.["value"]) === "") return null;
  const [arn] = listOf(fields["resources"]) ?? [];
  return {
    AlarmName: detail?.["alarmName"],
    AlarmArn: arn,
    Region: fields["region"],
    AlarmDescription: objectOf(detail?.["configuration"])?.["description"],
    AWSAccountId: fields["account"],
    StateChangeTime: state?.["timestamp"],
    NewStateValue: state?.["value"],
    NewStateReason: state?.["reason"],
  };
}

const LEVELS: Readonly<Record<string, number>> = { ALARM: 400, OK: 200 };

const NO_DATA = "INSUFFICIENT_DATA";

/** An alarm with insufficient data is a warning. */
function alarmEvent(fields: JsonFields, topic: string, watched: WatchedKeys): IngestEvent {
  const text = (name: string) => asText(fields[name]).trim();
  const state = text("NewStateValue");
  const { Dimensions, ...trigger } = objectOf(fields["Trigger"]) ?? {};
  const dimensions = objectsIn(Dimensions, MOST_DIMENSIONS).map(
    ({ name, value }) => [`dimension.${asText(name)}`, asText(value)] as const,
  );
  const own = { alarm: "AlarmName", region: "Region", account: "AWSAccountId" };
  const title = state === NO_DATA ? `no data: ${text("AlarmName")}` : text("AlarmName");
  const description = text("AlarmDescription");
  return fitted(
    {
      message: description === "" ? title : `${title}: ${description}`,
      title,
      level: (Object.hasOwn(LEVELS, state) ? LEVELS[state] : undefined) ?? 300,
      details: text("NewStateReason"),
      keys: [
        ...Object.entries(own).map(([key, name]) => [key, text(name)] as const),
        ["state", state] as const,
        ["topic", topic] as const,
        ...dimensions,
        ...flattened(trigger, watched),
      ].filter(([, value]) => value !== ""),
      tags: ["sns", "cloudwatch"],
      named: {
        action: state === "OK" ? "resolve" : "fire",
        dedupKey:
          text("AlarmArn") || `${text("AWSAccountId")}:${text("Region")}:${text("AlarmName")}`,
        instance: null,
        expiresAt: null,
      },
      occurredAt: timeOf(text("StateChangeTime")),
    },
    watched,
  );
}
