import { sha256 } from "../../../ground/kit/ids.ts";
import type { Loose } from "../fit.ts";
import { asText, type JsonFields, objectOf, objectsIn, textPairs } from "../json.ts";
import { levelOfWord } from "../levels.ts";
import { sentrySeconds, stackText, stackWords } from "./stack.ts";

const MOST_EXCEPTIONS = 50;
const MOST_PARAMS = 50;
const LONGEST_PARAM = 1000;
/** Fields that become keys unchanged. */
const PLAIN = ["environment", "release", "server_name", "transaction", "logger", "platform"];

/** `pii`: whether personal data is kept; without it, it is left out. */
interface Privacy {
  pii: boolean;
}

/** An error or message that a program's SDK reports. */
export function sentryEvent(event: JsonFields, { pii }: Privacy): Loose {
  const thrown = thrownOf(event["exception"]);
  const cause = causeOf(event["exception"], thrown);
  const title = messageOf(event, thrown);
  const message = title + (cause === "" ? "" : ` (caused by ${cause})`);
  const stack = objectOf(thrown?.["stacktrace"]);
  return {
    message: message === "" ? `(no message) ${asText(event["culprit"])}`.trim() : message,
    title,
    level: levelOfWord(asText(event["level"])) ?? (thrown === null ? 200 : 400),
    keys: keysOf(event, thrown, pii),
    tags: ["sentry", asText(event["environment"])],
    details: stackText(stack),
    occurredAt: sentrySeconds(event["timestamp"]),
  };
}

function exceptionsIn(value: unknown): JsonFields[] {
  const list = Array.isArray(value) ? value : objectOf(value)?.["values"];
  return objectsIn(list, MOST_EXCEPTIONS);
}

/**
 * Exceptions are listed oldest first: the last one was thrown, and its causes come before it. With parent ids, the
 * thrown one has no parent.
 */
function thrownOf(value: unknown): JsonFields | null {
  const exceptions = exceptionsIn(value);
  const root = exceptions.find((one) => {
    const mechanism = objectOf(one["mechanism"]);
    return Number.isInteger(mechanism?.["exception_id"]) && mechanism?.["parent_id"] === undefined;
  });
  return root ?? exceptions.at(-1) ?? null;
}

/** The first cause of the thrown exception, `type: value`; empty for none. */
function causeOf(value: unknown, thrown: JsonFields | null): string {
  const first = exceptionsIn(value).find((one) => one !== thrown);
  if (first === undefined || thrown === null) return "";
  const text = [asText(first["type"]), asText(first["value"])].filter(Boolean).join(": ");
  return text === "" || text === `${asText(thrown["type"])}: ${asText(thrown["value"])}`
    ? ""
    : text;
}

/** A logger's message with its parameters filled in: `%s` and `{}`, or named ones. */
function filledIn(message: string, params: unknown): string {
  const list = Array.isArray(params) ? params.slice(0, MOST_PARAMS).map(asText) : [];
  const named = objectOf(params);
  let next = 0;
  return message.replace(
    /%\((\w{1,64})\)[sdifr]|\{(\w{0,64})\}|%[sdifr]/g,
    (hole, percent?: string, braces?: string) => {
      const name = percent ?? braces ?? "";
      const text = /^\d*$/.test(name)
        ? list[name === "" ? next++ : Number(name)]
        : asText(named?.[name]);
      return text === undefined || text === "" ? hole : text.slice(0, LONGEST_PARAM);
    },
  );
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
      entry?.["formatted"],
      filledIn(asText(entry?.["message"]), entry?.["params"]),
      event["message"],
      said?.["formatted"],
      filledIn(asText(said?.["message"]), said?.["params"]),
      value,
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

/** From an object, or a list of pairs. */
function tagPairs(tags: unknown): [string, string][] {
  const pairs = Array.isArray(tags)
    ? tags
        .slice(0, 200)
        .filter((pair) => Array.isArray(pair))
        .map(([name, text]): [string, string] => [asText(name), asText(text)])
    : textPairs(tags);
  return pairs.map(([name, text]) => [`tag.${name}`, text]);
}

/** The same for equal errors: from the program's fingerprint, else from type and newest frames. */
function groupOf(event: JsonFields, thrown: JsonFields | null): string {
  const { fingerprint } = event;
  const own = Array.isArray(fingerprint) ? fingerprint.slice(0, 100).map(asText) : [];
  const words =
    own.length > 0 && !own.some((word) => /^\{\{\s*default\s*\}\}$/.test(word))
      ? own
      : [
          asText(thrown?.["type"]),
          ...stackWords(objectOf(thrown?.["stacktrace"])),
          ...(thrown === null ? [asText(objectOf(event["logentry"])?.["message"])] : []),
        ];
  return words.some((word) => word !== "") ? sha256(words.join("\n")).slice(0, 16) : "";
}

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

/** Feedback that a person wrote into a form. */
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
