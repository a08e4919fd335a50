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

/** Opsgenie's Alert API (contract §23), and the same of its successor. */
export const opsgenie: Adapter = {
  kind: "opsgenie",
  title: "Whatever alerts through Opsgenie",
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
      "Create, close, acknowledge and notes go through, by alias; what else is asked of an alert is a note in its history.",
      "Responders and teams don't steer who is paged: the rules here do. They can be told apart by the key responders.",
      "A ping of a heartbeat is heard by the heartbeat here whose slug is its name: box heartbeat add.",
      "One source, one sender: its aliases hold in this source alone.",
      "Alertmanager tries again for one group_interval while the box is down; other senders by their own habit.",
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
  if (method === "GET" && id !== "") throw new UnreadableBody({ why: "not_found" });
  const isWrite = method === "POST" || (id !== "" && (method === "PUT" || method === "PATCH"));
  const isDelete = method === "DELETE" && id !== "" && verb === "";
  if (!isWrite && !isDelete) throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const fields = request.body.length === 0 ? {} : objectOf(jsonBody(request.body));
  if (fields === null) throw new UnreadableBody({ why: "bad_request", message: "No object." });
  if (id === "") return create(fields, request);
  return told(decoded(id), { fields, verb: isDelete ? "close" : verb, request });
}

const PINGS = ["GET", "POST", "PUT", "PATCH"];

/** A job reports: for the heartbeat whose slug is its name. */
function ping(name: string, { method, unique }: InRequest): Decoded {
  if (!PINGS.includes(method)) throw new UnreadableBody({ why: "method", allowed: PINGS });
  const rest = { took: 0.001, requestId: unique() };
  return {
    ...{ events: [], rejected: [] },
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

/** The path's own escapes, where they are any. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function create(fields: JsonFields, { unique, watched }: InRequest): Decoded {
  const message = asText(fields["message"]);
  if (message.trim() === "")
    throw new UnreadableBody({ why: "bad_request", message: "Message can not be empty." });
  // A caller that sent no alias closes it by this id.
  const requestId = unique();
  const priority = asText(fields["priority"]).toLowerCase();
  return willDo(
    requestId,
    fitted(
      {
        message,
        level: (Object.hasOwn(LEVELS, priority) ? LEVELS[priority] : undefined) ?? 300,
        details: asText(fields["description"]),
        keys: [...textPairs(fields["details"]), ...described(fields)],
        tags: ["opsgenie", ...(listOf(fields["tags"]) ?? []).map(asText)],
        named: fires(asText(fields["alias"]) || requestId),
      },
      watched,
    ),
  );
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

/** What is asked of an alert that there is: its end, an acknowledgement, or a line in its history. */
function told(
  dedupKey: string,
  { fields, verb, request }: { fields: JsonFields; verb: string; request: InRequest },
): Decoded {
  const action = (Object.hasOwn(ACTIONS, verb) ? ACTIONS[verb] : undefined) ?? "note";
  const said = asText(fields["note"]) || asText(fields[verb]);
  const by = asText(fields["user"]);
  const asked = verb === "notes" ? said : `asked to ${verb}${said === "" ? "" : `: ${said}`}`;
  return willDo(
    request.unique(),
    fitted(
      {
        message: by === "" ? asked : `${asked} (${by})`,
        level: 200,
        keys: [],
        tags: ["opsgenie"],
        named: { action, dedupKey, instance: null, expiresAt: null },
      },
      request.watched,
    ),
  );
}

function willDo(requestId: string, event: IngestEvent): Decoded {
  const answer = { result: "Request will be processed", took: 0.001, requestId };
  return {
    events: [event],
    rejected: [],
    answer: () => jsonReply(202, answer),
  };
}

/** Whatever was answered 202 had been done before. */
function processed({ path }: InRequest): Decoded {
  const requestId = path.replace(/\/$/, "").split("/").at(-1) ?? "";
  const data = { success: true, isSuccess: true, status: "Processed", alertId: requestId };
  return {
    events: [],
    rejected: [],
    answer: () => jsonReply(200, { data, took: 0.001, requestId }),
  };
}

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
