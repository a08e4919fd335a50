import type { NamedState } from "../ingest/named-fields.ts";
import {
  type Adapter,
  type Decoded,
  type InRefusal,
  type InRequest,
  type SenderReply,
  UnreadableBody,
  type WatchedKeys,
} from "./adapter.ts";
import { fitted, type Loose } from "./fit.ts";
import { flattened } from "./flatten.ts";
import { asText, type JsonFields, jsonBody, jsonOr, listOf, objectOf, timeOf } from "./json.ts";
import { ALERT_LEVEL, levelOfWord } from "./levels.ts";
import { jsonReply, statusOf } from "./replies.ts";

/** PagerDuty's documented limit. */
const BYTES = 512 * 1024;
/** Values of a body before its token is known. */
const STRANGERS = 50_000;
const NO_JSON = "JSON parse error";

const ENQUEUE = "/v2/enqueue";
const CHANGE = "/v2/change/enqueue";
const CLASSIC = "/generic/2010-04-15/create_event.json";
const PATHS = [ENQUEUE, CHANGE, CLASSIC];

/** PagerDuty's Events API v2 with its change events, and v1 (contract §23): the token is in the body. */
export const pagerduty: Adapter = {
  kind: "pagerduty",
  title: "Senders for PagerDuty, if you can set their address",
  identity: {
    title: ["payload.summary", "description"],
    labels: ["source", "component"],
    named: "all",
  },
  room: "source",
  caps: { sent: BYTES, inflated: BYTES },
  fixed: (path) => (PATHS.includes(path.replace(/\/$/, "")) ? path : null),
  decode,
  refuse,
  tokenIn(body) {
    try {
      const fields = objectOf(jsonBody(body, STRANGERS)) ?? {};
      return asText(fields["routing_key"]) || asText(fields["service_key"]) || null;
    } catch {
      return null;
    }
  },
  setUp: ({ base, shortToken }) => ({
    where: "the sender, as its integration key and address; this is Alertmanager's receiver",
    paste: [
      "receivers:",
      "- name: box",
      "  pagerduty_configs:",
      `  - routing_key: ${shortToken}`,
      `    url: '${base}/v1/in/pagerduty/v2/enqueue'`,
      "    send_resolved: true",
    ].join("\n"),
    notes: [
      "The box takes trigger, acknowledge and resolve, by dedup_key. A repeated trigger counts as a further event. Change events are kept as log lines and open no alert.",
      "Make one source for each sender: a dedup_key counts only within its source.",
      "Many of these senders never try again: what they send while the box is off is lost. Alertmanager tries again for one group_interval; its own webhook (kind alertmanager) is better, because it reports each alert of a group.",
      "Senders with a fixed address (Healthchecks, Apprise) can't send here.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  const path = request.path.replace(/\/$/, "");
  const isChange = path === CHANGE;
  const isClassic = path === CLASSIC;
  if (!isChange && !isClassic && path !== "" && path !== ENQUEUE)
    throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const fields = eventFields(request.body);
  if (isChange) return change(fields, request);
  return isClassic || (path === "" && "event_type" in fields)
    ? classic(fields, request)
    : event(fields, request);
}

function eventFields(body: Buffer): JsonFields {
  const fields = objectOf(jsonOr(body));
  if (fields !== null) return fields;
  throw new UnreadableBody(NO_JSON);
}

const ACTIONS: ReadonlyMap<string, NamedState["action"]> = new Map([
  ["trigger", "fire"],
  ["acknowledge", "acknowledge"],
  ["resolve", "resolve"],
]);

function event(fields: JsonFields, { unique, watched }: InRequest): Decoded {
  const payload = objectOf(fields["payload"]) ?? {};
  const word = asText(fields["event_action"]).toLowerCase();
  const action = ACTIONS.get(word);
  const sent = asText(fields["dedup_key"]);
  const isTrigger = action === "fire";
  const missing = (isTrigger ? ["summary", "source", "severity"] : [])
    .filter((name) => asText(payload[name]).trim() === "")
    .map((name) => `'payload.${name}' is missing or blank`);
  if (action === undefined)
    missing.push(`'event_action' is ${word === "" ? "missing or blank" : "invalid"}`);
  else if (!isTrigger && sent === "") missing.push("'dedup_key' is missing or blank");
  if (action === undefined || missing.length > 0) throw new UnreadableBody(missing.join("; "));
  const dedupKey = sent === "" ? unique() : sent;
  const severity = asText(payload["severity"]);
  const known = levelOfWord(severity);
  const warnings =
    isTrigger && known === null
      ? { warnings: ["'payload.severity' is none of critical, error, warning, info"] }
      : {};
  const answer = { status: "success", message: "Event processed", dedup_key: dedupKey };
  return {
    events: [
      fitted(
        {
          ...described(fields, payload, watched),
          message: asText(payload["summary"]) || `${word} ${dedupKey}`,
          title: asText(payload["summary"]),
          level: known ?? (isTrigger ? ALERT_LEVEL : 200),
          tags: ["pagerduty"],
          named: { action, dedupKey, instance: null, expiresAt: null },
        },
        watched,
      ),
    ],
    rejected: [],
    answer: () => jsonReply(202, { ...answer, ...warnings }),
  };
}

/** An event of the Events API v1, which has no severity. */
function classic(fields: JsonFields, { unique, watched }: InRequest): Decoded {
  const word = asText(fields["event_type"]).toLowerCase();
  const action = ACTIONS.get(word);
  const sent = asText(fields["incident_key"]);
  const description = asText(fields["description"]);
  const { client, client_url, details } = fields;
  if (action === undefined) throw new UnreadableBody("Event type is invalid");
  if (action === "fire" && description.trim() === "")
    throw new UnreadableBody("Description can't be blank");
  if (action !== "fire" && sent === "") throw new UnreadableBody("Incident key can't be blank");
  const dedupKey = sent === "" ? unique() : sent;
  const event = fitted(
    {
      ...described({ client, client_url }, { custom_details: details }, watched),
      message: description || `${word} ${dedupKey}`,
      title: description,
      level: ALERT_LEVEL,
      tags: ["pagerduty"],
      named: { action, dedupKey, instance: null, expiresAt: null },
    },
    watched,
  );
  const answer = { status: "success", message: "Event processed", incident_key: dedupKey };
  return { events: [event], rejected: [], answer: () => jsonReply(200, answer) };
}

function change(fields: JsonFields, { watched }: InRequest): Decoded {
  const payload = objectOf(fields["payload"]) ?? {};
  const summary = asText(payload["summary"]);
  if (summary.trim() === "") throw new UnreadableBody("'payload.summary' is missing or blank");
  return {
    events: [
      fitted(
        {
          ...described(fields, payload, watched),
          message: summary,
          title: summary,
          level: 200,
          tags: ["pagerduty", "change"],
          named: { action: "change", dedupKey: null, instance: null, expiresAt: null },
        },
        watched,
      ),
    ],
    rejected: [],
    answer: () => jsonReply(202, { status: "success", message: "Change event processed" }),
  };
}

/** The text of an event below its summary. */
function described(
  fields: JsonFields,
  payload: JsonFields,
  watched: WatchedKeys,
): Pick<Loose, "keys" | "details" | "links" | "images" | "occurredAt"> {
  const named = ["source", "severity", "component", "group", "class"].map(
    (name) => [name, asText(payload[name])] as const,
  );
  const client = asText(fields["client"]);
  const detail = payload["custom_details"];
  return {
    keys: [
      ...[...named, ["client", client] as const].filter(([, text]) => text !== ""),
      ...(objectOf(detail) === null ? [] : flattened(detail, watched, "detail")),
    ],
    details: typeof detail === "object" ? JSON.stringify(detail, null, 2) : asText(detail),
    links: [
      ...objects(fields["links"]).map((link) => ({
        href: asText(link["href"]),
        text: asText(link["text"]) || asText(link["href"]),
      })),
      { href: asText(fields["client_url"]), text: client || "Client" },
    ],
    images: objects(fields["images"]).map((image) => ({
      src: asText(image["src"]),
      href: asText(image["href"]),
      alt: asText(image["alt"]),
    })),
    occurredAt: timeOf(payload["timestamp"]),
  };
}

function objects(value: unknown): JsonFields[] {
  return (listOf(value) ?? []).map(objectOf).filter((item) => item !== null);
}

/** PagerDuty's answers: 400 for a wrong key, 429 for too much. */
function refuse(refusal: InRefusal): SenderReply {
  const invalid = (errors: string[]) =>
    jsonReply(400, { status: "invalid event", message: "Event object is invalid", errors });
  switch (refusal.why) {
    case "unauthorized":
      return invalid(["Invalid routing key"]);
    case "too_large":
      return invalid(["Event object is larger than 512 KB"]);
    case "overloaded":
      return jsonReply(429, {
        status: "throttle exceeded",
        message: "Requests for this service are arriving too quickly.  Please retry later.",
      });
    case "bad_request":
      return refusal.message === NO_JSON
        ? jsonReply(400, {
            status: "Unrecognized object",
            message: "Event object format is unrecognized",
            errors: [NO_JSON],
          })
        : invalid(refusal.message.split("; "));
    default: {
      const { status, message } = statusOf(refusal);
      return jsonReply(status, { status: "error", message });
    }
  }
}
