import type { NamedState } from "../ingest/named-fields.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { flattened } from "./flatten.ts";
import { asText, jsonBody, objectOf, timeOf } from "./json.ts";
import { ALERT_LEVEL, levelOfWord } from "./levels.ts";
import { jsonReply, refusedAs } from "./replies.ts";

/** The REST endpoint of Splunk On-Call, formerly VictorOps (contract §23). */
export const victorops: Adapter = {
  kind: "victorops",
  title: "Senders for Splunk On-Call (VictorOps)",
  identity: { title: ["entity_display_name", "state_message"], labels: [], named: "some" },
  room: "source",
  caps: alertCaps,
  fixed(path) {
    const [found, rest] =
      /^\/integrations\/generic\/20131114\/alert(\/[^/]+(?:\/[^/]*)?)$/.exec(path) ?? [];
    return found === undefined ? null : (rest ?? null);
  },
  decode,
  refuse: refusedAs((message) => ({ result: "failure", message })),
  setUp: ({ base, shortToken }) => ({
    where: "the sender, as its API address and key; this is Alertmanager's receiver",
    paste: [
      "receivers:",
      "- name: box",
      "  victorops_configs:",
      `  - api_key: ${shortToken}`,
      `    api_url: '${base}/v1/in/victorops/'`,
      "    routing_key: all",
      "    send_resolved: true",
    ].join("\n"),
    notes: [
      "By entity_id, CRITICAL, WARNING and INFO open an alert, ACKNOWLEDGEMENT acknowledges it, RECOVERY ends it. The routing key is a key of the event, for rules.",
      "While the box is off, Alertmanager tries again for one group_interval. Other senders try again as they are set up to.",
    ],
  }),
};

const ACTIONS: Readonly<Record<string, NamedState["action"]>> = {
  acknowledgement: "acknowledge",
  recovery: "resolve",
  ok: "resolve",
};

function decode({ method, path, body, watched }: InRequest): Decoded {
  const [found, routingKey = ""] = /^(?:\/([^/]*))?\/?$/.exec(path) ?? [];
  if (found === undefined) throw new UnreadableBody({ why: "not_found" });
  if (method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const fields = objectOf(jsonBody(body));
  const word = asText(fields?.["message_type"]).trim().toLowerCase();
  if (fields === null || word === "") throw new UnreadableBody("message_type is missing");
  const { message_type, entity_id, entity_display_name, state_message, ...others } = fields;
  const action = (Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined) ?? "fire";
  const dedupKey = asText(entity_id) || null;
  const text = asText(state_message);
  const [firstLine = ""] = text.trim().split("\n");
  const event = fitted(
    {
      message: asText(entity_display_name) || firstLine || asText(message_type),
      title: asText(entity_display_name) || firstLine,
      level: levelOfWord(word) ?? (action === "fire" ? ALERT_LEVEL : 200),
      details: text,
      keys: [
        ...(routingKey === "" ? [] : [["routing_key", routingKey] as const]),
        ...flattened(others, watched),
      ],
      tags: ["victorops"],
      ...(dedupKey === null && action === "fire"
        ? {}
        : { named: { action, dedupKey, instance: null, expiresAt: null } }),
      occurredAt: startOf(others),
    },
    watched,
  );
  const answer = { result: "success", entity_id: dedupKey ?? "" };
  return { events: [event], rejected: [], answer: () => jsonReply(200, answer) };
}

/** From Unix seconds, or a time in another format. */
function startOf(fields: Readonly<Record<string, unknown>>): number | null {
  const value = fields["state_start_time"] ?? fields["timestamp"];
  const seconds = Number(asText(value) || Number.NaN);
  if (Number.isFinite(seconds) && seconds > 0 && seconds < 1e11) return Math.floor(seconds);
  return timeOf(value);
}
