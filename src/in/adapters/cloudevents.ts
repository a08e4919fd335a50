import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  type Rejected,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, jsonBody, jsonOr, listOf, objectOf, timeOf } from "./json.ts";
import { ALERT_LEVEL } from "./levels.ts";
import { namedText } from "./mapping/best-text.ts";
import { bodyValue } from "./mapping/body.ts";
import { mappedPairs } from "./mapping/flatten.ts";
import { type Guess, guessed } from "./mapping/guess.ts";
import { jsonReply } from "./replies.ts";

/** Events in the CloudEvents format: Knative, brokers, Azure Event Grid. Their data is guessed. */
export const cloudevents: Adapter = {
  kind: "cloudevents",
  title: "CloudEvents",
  identity: {
    title: ["title", "summary", "subject"],
    labels: ["ce.source", "ce.subject"],
    named: "some",
  },
  room: "source",
  caps: alertCaps,
  // Azure asks for permission before it sends.
  preflight: { "webhook-allowed-origin": "*", "webhook-allowed-rate": "*" },
  decode,
  setUp: ({ base, token }) => ({
    where: "the broker, as the address of a subscriber",
    paste: `${base}/v1/in/cloudevents/${token}`,
    notes: [
      "The box takes structured, batched and binary events. It guesses message, level, state and name from the usual fields of the data.",
      "An event with the same source and id counts once. What is sent while the box is off comes again only if the broker tries again.",
    ],
  }),
};

/** An event's attributes, and its data. */
interface CloudEvent {
  attributes: ReadonlyMap<string, string>;
  data: unknown;
}

const BATCH = "application/cloudevents-batch";
const STRUCTURED = "application/cloudevents";
const REQUIRED = ["id", "source", "type", "specversion"];

function decode(request: InRequest): Decoded {
  if (request.path !== "" && request.path !== "/") throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const events: IngestEvent[] = [];
  const ids: string[] = [];
  const rejected: Rejected[] = [];
  for (const found of cloudEvents(request)) {
    const missing = REQUIRED.find((name) => (found?.attributes.get(name) ?? "") === "");
    if (found === null || missing !== undefined) {
      rejected.push({ reason: `an event needs ${missing ?? "to be an object"}` });
      continue;
    }
    events.push(eventOf(found, request));
    ids.push(`${found.attributes.get("source")} ${found.attributes.get("id")}`);
  }
  if (events.length === 0 && rejected[0] !== undefined)
    throw new UnreadableBody({ why: "bad_request", message: rejected[0].reason });
  return { events, ids, rejected, answer: ({ accepted }) => jsonReply(200, { accepted }) };
}

function cloudEvents(request: InRequest): (CloudEvent | null)[] {
  const type = (request.header("content-type") ?? "").toLowerCase();
  if (type.startsWith(BATCH)) return (listOf(jsonBody(request.body)) ?? []).map(structured);
  if (request.header("ce-specversion") !== undefined && !type.startsWith(STRUCTURED))
    return [binary(request)];
  const body = jsonBody(request.body);
  return Array.isArray(body) ? (listOf(body) ?? []).map(structured) : [structured(body)];
}

function structured(value: unknown): CloudEvent | null {
  const fields = objectOf(value);
  if (fields === null) return null;
  const { data, data_base64: base64, ...others } = fields;
  const attributes = new Map(
    Object.entries(others).map(([name, item]): [string, string] => [name, asText(item)]),
  );
  return { attributes, data: data ?? dataOf(asText(base64)) };
}

function dataOf(base64: string): unknown {
  if (base64 === "") return null;
  const text = Buffer.from(base64, "base64").toString("utf8");
  return jsonOr(Buffer.from(text)) ?? { text };
}

/** Attributes in percent-encoded headers; the body is the data. */
function binary(request: InRequest): CloudEvent {
  const names = [...REQUIRED, "subject", "time", "dataschema"];
  const attributes = new Map(
    names.map((name): [string, string] => [name, decoded(request.header(`ce-${name}`) ?? "")]),
  );
  return { attributes, data: request.body.length === 0 ? null : bodyValue(request) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function eventOf({ attributes, data }: CloudEvent, { body, watched }: InRequest): IngestEvent {
  const said = (name: string) => attributes.get(name) ?? "";
  const fields: JsonFields = objectOf(data) ?? (data === null ? {} : { text: asText(data) });
  const guess = guessed(fields);
  const subject = said("subject");
  const named = ["type", "source", "subject"].map((name): [string, string] => [
    `ce.${name}`,
    said(name),
  ]);
  const drop = new Set(guess.used.map((name) => `/${name}`));
  const own = mappedPairs(fields, {
    drop,
    from: "",
    watched,
    budget: { left: 10_000 + body.length * 4 },
  });
  return fitted(
    {
      message:
        guess.used.length > 0
          ? guess.message
          : (namedText(fields) ?? `${said("type")} ${subject}`.trim()),
      title: guess.title,
      level: guess.level ?? ALERT_LEVEL,
      keys: [...named, ...own].filter(([, text]) => text !== ""),
      tags: ["cloudevents"],
      named: stateOf(guess),
      details: guess.details === guess.message ? "" : guess.details,
      links: [{ href: guess.link, text: "Source" }],
      occurredAt: timeOf(said("time")),
    },
    watched,
  );
}

function stateOf({ isOver, dedupKey }: Guess) {
  return {
    action: isOver && dedupKey !== "" ? ("resolve" as const) : ("fire" as const),
    dedupKey: dedupKey || null,
    instance: null,
    expiresAt: null,
  };
}
