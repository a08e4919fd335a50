import { sha256 } from "../../kit/ids.ts";
import type { Loose } from "../fit.ts";
import { asText, type JsonFields, objectOf, objectsIn, textPairs } from "../json.ts";
import { levelOfWord } from "../levels.ts";
import { sentrySeconds, stackText, stackWords } from "./stack.ts";

const MOST_EXCEPTIONS = 50;
/** Fields that are keys as they are. */
const PLAIN = ["environment", "release", "server_name", "transaction", "logger", "platform"];

/** What is said of people is left out unless the source says otherwise. */
export interface Privacy {
  pii: boolean;
}

/** An error or a message of a program, as its SDK reports it. */
export function sentryEvent(event: JsonFields, { pii }: Privacy): Loose {
  const thrown = thrownOf(event["exception"]);
  const message = messageOf(event, thrown);
  const stack = objectOf(thrown?.["stacktrace"]);
  return {
    message: message === "" ? `(no message) ${asText(event["culprit"])}`.trim() : message,
    level: levelOfWord(asText(event["level"])) ?? (thrown === null ? 200 : 400),
    keys: keysOf(event, thrown, pii),
    tags: ["sentry", asText(event["environment"])],
    details: stackText(stack),
    occurredAt: sentrySeconds(event["timestamp"]),
  };
}

/** Exceptions stand oldest first: the last was thrown, its causes before it; or it is the one without a parent. */
function thrownOf(value: unknown): JsonFields | null {
  const list = Array.isArray(value) ? value : objectOf(value)?.["values"];
  const exceptions = objectsIn(list, MOST_EXCEPTIONS);
  const root = exceptions.find((one) => {
    const mechanism = objectOf(one["mechanism"]);
    return Number.isInteger(mechanism?.["exception_id"]) && mechanism?.["parent_id"] === undefined;
  });
  return root ?? exceptions.at(-1) ?? null;
}

function messageOf(event: JsonFields, thrown: JsonFields | null): string {
  const type = asText(thrown?.["type"]);
  const value = asText(thrown?.["value"]);
  const isMessage = objectOf(thrown?.["mechanism"])?.["synthetic"] === true || type === "";
  if (thrown !== null && !isMessage) return value === "" ? type : `${type}: ${value}`;
  const entry = objectOf(event["logentry"]);
  const said = objectOf(event["message"]);
  return (
    [
      ...[entry?.["formatted"], entry?.["message"], event["message"]],
      ...[said?.["formatted"], said?.["message"], value],
    ]
      .map(asText)
      .find((text) => text.trim() !== "") ?? ""
  );
}

function keysOf(event: JsonFields, thrown: JsonFields | null, pii: boolean): [string, string][] {
  const mechanism = objectOf(thrown?.["mechanism"]);
  const user = objectOf(event["user"]);
  const trace = objectOf(objectOf(event["contexts"])?.["trace"]);
  const type = asText(thrown?.["type"]);
  const pairs: [string, string][] = [
    ["sentry.group", groupOf(event, thrown)],
    ...PLAIN.map((name): [string, string] => [name, asText(event[name])]),
    ["exception.type", type],
    ["mechanism", asText(mechanism?.["type"])],
    ["handled", asText(mechanism?.["handled"])],
    ["user.id", asText(user?.["id"])],
    ["trace_id", asText(trace?.["trace_id"])],
    ["event_id", asText(event["event_id"])],
    ...tagPairs(event["tags"]),
  ];
  if (pii)
    pairs.push(
      ["user.email", asText(user?.["email"])],
      ["user.ip_address", asText(user?.["ip_address"])],
      ["request.url", asText(objectOf(event["request"])?.["url"])],
    );
  return pairs.filter(([, text]) => text !== "");
}

/** An object, or a list of pairs. */
function tagPairs(tags: unknown): [string, string][] {
  const pairs = Array.isArray(tags)
    ? tags
        .slice(0, 200)
        .filter((pair) => Array.isArray(pair))
        .map(([name, text]): [string, string] => [asText(name), asText(text)])
    : textPairs(tags);
  return pairs.map(([name, text]) => [`tag.${name}`, text]);
}

/** The same for what is the same trouble: by the program's own word, else by type and the newest frames. */
function groupOf(event: JsonFields, thrown: JsonFields | null): string {
  const { fingerprint } = event;
  const own = Array.isArray(fingerprint) ? fingerprint.slice(0, 100).map(asText) : [];
  const words =
    own.length > 0 && !own.some((word) => /^\{\{\s*default\s*\}\}$/.test(word))
      ? own
      : [
          ...[asText(thrown?.["type"]), ...stackWords(objectOf(thrown?.["stacktrace"]))],
          ...(thrown === null ? [asText(objectOf(event["logentry"])?.["message"])] : []),
        ];
  return words.some((word) => word !== "") ? sha256(words.join("\n")).slice(0, 16) : "";
}

/** A structured log line. */
export function sentryLog(line: JsonFields, { pii }: Privacy): Loose {
  const attributes = Object.entries(objectOf(line["attributes"]) ?? {})
    .map(([name, item]): [string, string] => [name, asText(objectOf(item)?.["value"])])
    .filter(([name, text]) => text !== "" && !isHidden(name, pii));
  return {
    message: asText(line["body"]),
    level: levelOfWord(asText(line["level"])) ?? 200,
    keys: [...attributes, ["trace_id", asText(line["trace_id"])] as const],
    tags: ["sentry", "log"],
    occurredAt: sentrySeconds(line["timestamp"]),
  };
}

function isHidden(name: string, pii: boolean): boolean {
  if (name.startsWith("sentry.sdk.") || name === "sentry.timestamp.sequence") return true;
  return !pii && name.startsWith("user.") && name !== "user.id";
}

/** What a person wrote into a form. */
export function sentryFeedback(event: JsonFields): Loose {
  const feedback = objectOf(objectOf(event["contexts"])?.["feedback"]);
  return {
    message: asText(feedback?.["message"]) || asText(event["comments"]),
    level: 200,
    keys: PLAIN.map((name) => [name, asText(event[name])] as const).filter(
      ([, text]) => text !== "",
    ),
    tags: ["sentry", "feedback"],
  };
}
