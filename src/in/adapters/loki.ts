import type { SourceOptions } from "../../core/projects/source.ts";
import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  type Decoded,
  type InRefusal,
  type InRequest,
  lineCaps,
  MOST_LINES,
  type SenderReply,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, jsonBody, objectOf, textPairs } from "./json.ts";
import { jsonOfLine, LINE_LEVEL, levelInText, levelOfValue, pairsOfLine } from "./line.ts";
import { type LokiEntry, type LokiPush, pushOfJson, pushOfProtobuf } from "./loki/push.ts";
import { BrokenSnappy, unsnappy } from "./loki/snappy.ts";
import { BrokenProtobuf } from "./protobuf.ts";
import { statusOf } from "./replies.ts";

const PUSH = ["", "/", "/loki/api/v1/push", "/api/prom/push"];
const MESSAGES = ["msg", "message", "log", "error"];
const LEVELS = ["level", "detected_level", "severity", "lvl"];

/** Loki's push requests (contract §23): in JSON, or in protobuf compressed with snappy. */
export const loki: Adapter = {
  kind: "loki",
  title: "Loki push (Alloy, promtail, Fluent Bit, Vector, Docker, pino, winston)",
  identity: { title: [], labels: [], named: "none" },
  room: "project",
  caps: lineCaps,
  fixed: (path) => (path.length > 1 && PUSH.includes(path) ? path : null),
  decode,
  refuse,
  setUp: ({ base, token }) => ({
    where: "config.alloy, beside your present loki.write: let sources forward to both",
    paste: [
      'loki.write "box" {',
      "  endpoint {",
      `    url = "${base}/v1/in/loki/loki/api/v1/push"`,
      `    bearer_token = "${token}"`,
      "  }",
      "}",
    ].join("\n"),
    notes: [
      "Fluent Bit, Vector, promtail and Docker's driver use the same address, with the token as Bearer, or as the password of any user.",
      "pino-loki: host is the box, endpoint is v1/in/loki/TOKEN. winston-loki: host is the box's address with /v1/in/loki/TOKEN behind it.",
      "The level of a line comes from its labels, else from its JSON or logfmt, else from its first level word. Labels become keys.",
      "While the box is off these senders keep what fits into their buffers and try again: Alloy and promtail for about eight minutes, Fluent Bit by its Retry_Limit, the libraries not at all.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  const { method, path } = request;
  if (path === "/ready" && (method === "GET" || method === "HEAD"))
    return { events: [], rejected: [], answer: () => plain(200, "ready\n") };
  if (!PUSH.includes(path)) throw new UnreadableBody({ why: "not_found" });
  if (method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const { entries, rejected } = pushOf(request);
  if (entries.length + rejected.length > MOST_LINES) throw new UnreadableBody({ why: "too_large" });
  const events = entries.map((entry) => eventOf(entry, request));
  // With any other answer Fluent Bit repeats a push for ever because of one bad line.
  return { events, rejected, answer: () => ({ status: 204, body: "" }) };
}

function pushOf({ body, header, watched }: InRequest): LokiPush {
  const isJson = /^application\/json\b/i.test(header("content-type") ?? "");
  if (isJson) {
    const fields = objectOf(jsonBody(body));
    if (fields !== null && Array.isArray(fields["streams"]))
      return pushOfJson(fields, { most: MOST_LINES, watched });
    throw new UnreadableBody("The body has no streams.");
  }
  try {
    return pushOfProtobuf(unsnappy(body, lineCaps.inflated), { most: MOST_LINES, watched });
  } catch (error) {
    if (!(error instanceof BrokenSnappy || error instanceof BrokenProtobuf)) throw error;
    throw new UnreadableBody("The body is no push in protobuf and snappy.");
  }
}

function eventOf(
  { labels, metadata, line, at }: LokiEntry,
  { options, watched }: InRequest,
): IngestEvent {
  const json = jsonOfLine(line);
  const pairs = json === null ? pairsOfLine(line, watched) : textPairs(json);
  const message = messageOf(line, json, pairs);
  return fitted(
    {
      message: message === "" ? "(empty)" : message,
      level: levelOf([...metadata, ...labels], { line, fields: json ?? pairs, options }),
      keys: [...labels, ...metadata, ...(json !== null || options.logfmt ? others(pairs) : [])],
      tags: ["loki"],
      occurredAt: at,
    },
    watched,
  );
}

/** The pairs without the level and the message, which the event has already. */
const others = (pairs: readonly [string, string][]) =>
  pairs.filter(([name]) => !MESSAGES.includes(name) && !LEVELS.includes(name));

function messageOf(line: string, json: JsonFields | null, pairs: readonly [string, string][]) {
  if (json === null) return pairs.find(([name]) => name === "msg")?.[1] || line.trim();
  const name = MESSAGES.find((one) => typeof json[one] === "string" && json[one] !== "");
  return name === undefined ? line : asText(json[name]);
}

function levelOf(
  said: readonly (readonly [string, string])[],
  text: { line: string; fields: JsonFields | readonly [string, string][]; options: SourceOptions },
): number {
  for (const name of LEVELS) {
    const word = said.find(([key]) => key === name)?.[1] ?? "";
    // Grafana's level detection writes "unknown" where it found none.
    const level = word.toLowerCase() === "unknown" ? null : levelOfValue(word);
    if (level !== null) return level;
  }
  const { line, fields, options } = text;
  return (options.level_from_text === false ? null : levelInText(line, fields)) ?? LINE_LEVEL;
}

const plain = (status: number, body: string): SenderReply => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body,
});

function refuse(refusal: InRefusal): SenderReply {
  const { status, message } = statusOf(refusal);
  return plain(status, `${message}\n`);
}
