import { isAscii, isUtf8 } from "node:buffer";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, jsonBody, objectOf } from "./json.ts";
import { jsonReply } from "./replies.ts";

/** A message in ntfy's format: a text with headers to a topic's address, or JSON. */
export const ntfyMessages: Adapter = {
  kind: "ntfy",
  title: "Senders of ntfy messages",
  identity: { title: ["title and message"], labels: ["topic"], named: "none" },
  room: "source",
  caps: alertCaps,
  decode,
  setUp: ({ base, token }) => ({
    where: "the sender's ntfy target",
    paste: [`Server: ${base}/v1/in/ntfy`, "Topic: box", `Access token: ${token}`].join("\n"),
    notes: [
      "Priority 5 is level 500, 4 is 400, 3 or none is 300, 2 is 200, 1 is 100. A message opens an alert, and no message resolves it: set auto_resolve_quiet_minutes in the rule.",
      "What is sent while the box is off is lost.",
    ],
  }),
};

const METHODS = ["POST", "PUT"];
const PRIORITIES: Readonly<Record<string, number>> = {
  min: 1,
  low: 2,
  default: 3,
  high: 4,
  max: 5,
  urgent: 5,
};

function decode(request: InRequest): Decoded {
  const topic = topicOf(request.path);
  if (!METHODS.includes(request.method))
    throw new UnreadableBody({ why: "method", allowed: METHODS });
  const fields = topic === "" ? jsonFields(request) : headerFields(request, topic);
  const { message, title, priority, tags, click } = fields;
  const id = request.unique().replaceAll("-", "").slice(0, 12);
  const called = title === "" ? message : `${title}: ${message.split("\n", 1)[0] ?? ""}`;
  const event = fitted(
    {
      message: called,
      title: called,
      level: priority * 100,
      keys: [
        ["topic", fields.topic] as const,
        ["title", title] as const,
        ["priority", String(priority)] as const,
      ].filter(([, text]) => text !== ""),
      tags: ["ntfy", ...tags],
      details: title === "" && !message.includes("\n") ? "" : message,
      links: [{ href: click, text: "Open" }],
    },
    request.watched,
  );
  const shown = { id, time: request.at, event: "message", topic: fields.topic, message };
  return { events: [event], rejected: [], answer: () => jsonReply(200, shown) };
}

/** The topic in an address; empty for the address that accepts JSON. */
function topicOf(path: string): string {
  const [, topic] = /^\/?([A-Za-z0-9_-]{0,64})\/?$/.exec(path) ?? [];
  if (topic === undefined) throw new UnreadableBody({ why: "not_found" });
  return topic;
}

interface NtfyFields {
  topic: string;
  message: string;
  title: string;
  /** 1 to 5. */
  priority: number;
  tags: readonly string[];
  click: string;
}

function jsonFields(request: InRequest): NtfyFields {
  const body: JsonFields = objectOf(jsonBody(request.body)) ?? {};
  const tags = Array.isArray(body["tags"]) ? body["tags"] : [];
  return {
    topic: asText(body["topic"]),
    message: asText(body["message"]).trim() || "triggered",
    title: asText(body["title"]).trim(),
    priority: priorityOf(asText(body["priority"])),
    tags: tags.slice(0, 63).map(asText),
    click: asText(body["click"]),
  };
}

/** Each field also under its short names, and in the query. */
function headerFields(request: InRequest, topic: string): NtfyFields {
  const said = (...names: string[]) =>
    names.flatMap((name) => request.header(name) ?? request.query.get(name) ?? [])[0] ?? "";
  return {
    topic,
    message:
      request.body.toString("utf8").trim() ||
      decodedWord(said("message", "x-message", "m")).trim() ||
      "triggered",
    title: decodedWord(said("title", "x-title", "t")).trim(),
    priority: priorityOf(said("priority", "x-priority", "prio", "p")),
    tags: said("tags", "x-tags", "tag", "ta")
      .slice(0, 4096)
      .split(",")
      .map((tag) => tag.trim()),
    click: said("click", "x-click"),
  };
}

function priorityOf(text: string): number {
  const word = text.trim().toLowerCase();
  if (Object.hasOwn(PRIORITIES, word)) return PRIORITIES[word] ?? 3;
  return /^[1-5]$/.test(word) ? Number(word) : 3;
}

/** A header outside ASCII comes as `=?UTF-8?B?…?=`, and from curl as bytes, which HTTP reads as Latin-1. */
function decodedWord(text: string): string {
  const bytes = Buffer.from(text, "latin1");
  if (bytes.toString("latin1") === text && isUtf8(bytes) && !isAscii(bytes))
    return bytes.toString("utf8");
  const [, base64] = /^=\?utf-8\?b\?([A-Za-z0-9+/=]{1,4096})\?=$/i.exec(text.trim()) ?? [];
  return base64 === undefined ? text : Buffer.from(base64, "base64").toString("utf8");
}
