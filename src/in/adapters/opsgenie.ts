import { uuidOf } from "../../ground/kit/ids.ts";
import type { IngestEvent } from "../ingest/event.ts";
import type { NamedState } from "../ingest/named-fields.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRefusal,
  type InRequest,
  type SenderReply,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, type JsonFields, jsonBody, listOf, objectOf, textPairs } from "./json.ts";
import { jsonReply, statusOf } from "./replies.ts";

/** Opsgenie's Alert API (contract §23), and its successor's. */
export const opsgenie: Adapter = {
  kind: "opsgenie",
  title: "Senders for Opsgenie",
  identity: { title: ["message"], labels: ["entity", "source"], named: "all" },
  room: "source",
  caps: alertCaps,
  fixed: (path) =>
    /^(?:\/jsm\/ops\/integration)?\/v2\/(?:alerts|heartbeats)(?:\/|$)/.test(path) ? path : null,
  decode,
  refuse,
  setUp: ({ base, shortToken }) => ({
    where: "the sender, as its API address and key; this is Alertmanager's receiver",
    paste: [
      "receivers:",
      "- name: box",
      "  opsgenie_configs:",
      `  - api_key: ${asUuid(shortToken)}`,
      `    api_url: '${base}/v1/in/opsgenie/'`,
      "    send_resolved: true",
    ].join("\n"),
    notes: [
      "The box takes create, close, acknowledge, notes and changes of message, description or priority, by alias or id. A priority raises the level and never lowers it. Every other request about an alert becomes a note in its history.",
      "Responders and teams don't decide who is paged: the rules here do. Rules can use two keys of the event: responders (their names) and priority (of the new alert; P3 if none was sent).",
      "Conditions of rules may also compare opsgenie.message (its first 130 characters), opsgenie.alias, opsgenie.description and opsgenie.tags (commas between them): events have these keys where a rule names them.",
      "A heartbeat's ping counts for the heartbeat here whose slug is its name and that names this source: box heartbeat add … --source.",
      "Make one source for each sender: an alias counts only within its source.",
      "While the box is off, Alertmanager tries again for one group_interval. Other senders try again as they are set up to.",
    ],
  }),
};

function asUuid(token: string): string {
  return token.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

const ADDRESS =
  /^(?:\/jsm\/ops\/integration)?(?:\/v2\/alerts(?:\/([^/]+)(?:\/([^/]+)(?:\/[^/]*)?)?)?)?\/?$/;
const HEARTBEAT = /^(?:\/jsm\/ops\/integration)?\/v2\/heartbeats\/([^/]+)\/ping\/?$/;
const LEVELS: Readonly<Record<string, number>> = { p1: 500, p2: 400, p3: 300, p4: 200, p5: 100 };

function decode(request: InRequest): Decoded {
  const [, job] = HEARTBEAT.exec(request.path) ?? [];
  if (job !== undefined) return ping(decoded(job), request);
  const [found, id = "", verb = ""] = ADDRESS.exec(request.path) ?? [];
  if (found === undefined) throw new UnreadableBody({ why: "not_found" });
  const { method } = request;
  if (method === "GET" && id === "requests") return processed(request);
  if (method === "GET" && id !== "" && verb === "") return shown(decoded(id), request);
  const isWrite = method === "POST" || (id !== "" && (method === "PUT" || method === "PATCH"));
  const isDelete = method === "DELETE" && id !== "" && verb === "";
  if (!isWrite && !isDelete) throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const fields = request.body.length === 0 ? {} : objectOf(jsonBody(request.body));
  if (fields === null) throw new UnreadableBody("No object.");
  if (id === "") return create(fields, request);
  return told(decoded(id), { fields, verb: isDelete ? "close" : verb, request });
}

const PINGS = ["GET", "POST", "PUT", "PATCH"];

/** A job's report, for the heartbeat whose slug is its name. */
function ping(name: string, { method, unique }: InRequest): Decoded {
  if (!PINGS.includes(method)) throw new UnreadableBody({ why: "method", allowed: PINGS });
  const rest = { took: 0.001, requestId: unique() };
  return {
    events: [],
    rejected: [],
    jobs: [{ name, word: "success", rid: null, pace: null, otherwise: "rejected" }],
    answer: ({ rejected }) =>
      rejected > 0
        ? jsonReply(404, {
            message: `Heartbeat with name [${name.slice(0, 100)}] does not exist`,
            ...rest,
          })
        : jsonReply(202, { result: "PONG - Heartbeat received", ...rest }),
  };
}

/** The path with its escapes decoded, where they are valid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function create(fields: JsonFields, { unique, watched }: InRequest): Decoded {
  const alias = asText(fields["alias"]);
  const priority = priorityIn(fields) ?? "p3";
  // A caller without an alias closes the alert by the request's id.
  const name = alias || unique();
  const tags = (listOf(fields["tags"]) ?? []).map(asText);
  const event = fitted(
    {
      message: messageIn(fields),
      title: messageIn(fields),
      level: LEVELS[priority] ?? 300,
      details: asText(fields["description"]),
      keys: [
        ...textPairs(fields["details"]),
        ...described(fields),
        ["priority", priority.toUpperCase()],
        ...compared(fields, { name, tags }, watched()),
      ],
      tags: ["opsgenie", ...tags],
      named: fires(name),
    },
    watched,
  );
  const key = event.named?.dedupKey ?? "";
  // Callers that use ids get one made from the alias, so nothing has to be stored.
  return willDo(alias === "" ? key : uuidOf(key), event);
}

/** Fields that are keys only where a rule compares them, because the alert shows them anyway. */
function compared(
  fields: JsonFields,
  { name, tags }: { name: string; tags: readonly string[] },
  watched: ReadonlySet<string>,
): [string, string][] {
  const all: [string, string][] = [
    ["opsgenie.message", messageIn(fields).slice(0, MOST_MESSAGE)],
    ["opsgenie.alias", name],
    ["opsgenie.description", asText(fields["description"])],
    ["opsgenie.tags", tags.map((tag) => tag.replaceAll(",", ";")).join(",")],
  ];
  return all.filter(([key, text]) => text !== "" && watched.has(key));
}

/** What Opsgenie keeps of a message. */
const MOST_MESSAGE = 130;

/** One of theirs, in small letters; null: none, or an unknown one. */
function priorityIn(fields: JsonFields): string | null {
  const priority = asText(fields["priority"]).toLowerCase();
  return Object.hasOwn(LEVELS, priority) ? priority : null;
}

function messageIn(fields: JsonFields): string {
  const message = asText(fields["message"]);
  if (message.trim() !== "") return message;
  throw new UnreadableBody("Message can not be empty.");
}

function fires(dedupKey: string): NamedState {
  return { action: "fire", dedupKey, instance: null, expiresAt: null };
}

function described(fields: JsonFields): [string, string][] {
  const responders = (listOf(fields["responders"]) ?? listOf(fields["teams"]) ?? [])
    .map(objectOf)
    .filter((one) => one !== null)
    .map((one) => {
      const name = asText(one["name"]) || asText(one["username"]) || asText(one["id"]);
      return `${asText(one["type"]) || "team"}:${name}`;
    });
  const pairs: [string, string][] = [
    ["entity", asText(fields["entity"])],
    ["source", asText(fields["source"])],
    ["responders", responders.join(", ")],
  ];
  return pairs.filter(([, text]) => text !== "");
}

const ACTIONS: Readonly<Record<string, NamedState["action"]>> = {
  close: "resolve",
  acknowledge: "acknowledge",
};

interface Told {
  fields: JsonFields;
  verb: string;
  request: InRequest;
}

/** An action on an existing alert: its end, an acknowledgement, another text or level, or a note. */
function told(name: string, { fields, verb, request }: Told): Decoded {
  const said = asText(fields["note"]) || asText(fields[verb]);
  const by = asText(fields["user"]);
  const asked = verb === "notes" ? said : `asked to ${verb}${said === "" ? "" : `: ${said}`}`;
  const does = Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined;
  const mayBeId = request.query.get("identifierType") !== "alias";
  const event = {
    message: by === "" ? asked : `${asked} (${by})`,
    level: 200,
    keys: [],
    tags: ["opsgenie"],
    ...(does === undefined ? updateIn(fields, verb) : {}),
  };
  const updates = "updates" in event ? event.updates : undefined;
  const action = does ?? (updates === undefined ? "note" : "update");
  const named: NamedState = {
    action,
    dedupKey: name,
    mayBeId,
    instance: null,
    expiresAt: null,
    ...(updates === undefined ? {} : { updates }),
  };
  return willDo(request.unique(), fitted({ ...event, named }, request.watched));
}

/** The changed fields of an alert; nothing for another action, or an unknown priority. */
function updateIn(fields: JsonFields, verb: string) {
  const priority = priorityIn(fields);
  if (verb === "message") {
    const message = messageIn(fields);
    return { updates: "message" as const, message, title: message };
  }
  if (verb === "description")
    return { updates: "details" as const, details: asText(fields["description"]) };
  if (verb !== "priority" || priority === null) return {};
  return { updates: "level" as const, level: LEVELS[priority] ?? 300 };
}

function willDo(requestId: string, event: IngestEvent): Decoded {
  const answer = { result: "Request will be processed", took: 0.001, requestId };
  return {
    events: [event],
    rejected: [],
    answer: () => jsonReply(202, answer),
  };
}

/** Every request that was answered with 202 is done already. That of a new alert has the alert's id. */
function processed({ path, unique }: InRequest): Decoded {
  const id = decoded(path.replace(/\/$/, "").split("/").at(-1) ?? "");
  return {
    events: [],
    rejected: [],
    asks: { name: id, mayBeId: true },
    answer: (_, alert) => {
      const made = alert && {
        action: "Create",
        processedAt: isoTime(alert.openedAt),
        integrationId: alert.askedBy,
        status: "Created alert",
        alertId: id,
        alias: alert.dedupKey,
      };
      const data = { success: true, isSuccess: true, status: "Processed", ...made };
      return jsonReply(200, { data, took: 0.001, requestId: unique() });
    },
  };
}

/** An alert in the form that SDKs read. */
function shown(name: string, { query, unique }: InRequest): Decoded {
  return {
    events: [],
    rejected: [],
    asks: { name, mayBeId: query.get("identifierType") !== "alias" },
    answer: (_, alert) => {
      if (alert === undefined) throw new UnreadableBody({ why: "not_found" });
      const { dedupKey, message, details, state, count, level, openedAt, lastSeen } = alert;
      const priority = Object.entries(LEVELS).find(([, least]) => level >= least)?.[0] ?? "p5";
      const data = {
        id: uuidOf(dedupKey),
        tinyId: alert.id,
        alias: dedupKey,
        message,
        description: details,
        status: state === "resolved" ? "closed" : "open",
        acknowledged: state !== "open",
        count,
        priority: priority.toUpperCase(),
        tags: [],
        createdAt: isoTime(openedAt),
        lastOccurredAt: isoTime(lastSeen),
      };
      return jsonReply(200, { data, took: 0.001, requestId: unique() });
    },
  };
}

const isoTime = (seconds: number) => new Date(seconds * 1000).toISOString();

function refuse(refusal: InRefusal): SenderReply {
  const rest = { took: 0, requestId: "" };
  switch (refusal.why) {
    case "unauthorized":
      return jsonReply(401, { message: "Could not authenticate", ...rest });
    case "bad_request":
      return jsonReply(422, {
        message: "Request body is not processable. Please check the errors.",
        errors: { message: refusal.message },
        ...rest,
      });
    case "overloaded":
      return jsonReply(429, { message: "You are making too many requests!", ...rest });
    default: {
      const { status, message } = statusOf(refusal);
      return jsonReply(status, { message, ...rest });
    }
  }
}
