import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  type SenderReply,
  UnreadableBody,
  type WatchedKeys,
} from "./adapter.ts";
import { alertmanager } from "./alertmanager.ts";
import { fitted } from "./fit.ts";
import { grafana } from "./grafana.ts";
import { asText, type JsonFields, jsonBody, objectOf } from "./json.ts";
import { ALERT_LEVEL } from "./levels.ts";
import { bodyValue } from "./mapping/body.ts";
import { jsonReply } from "./replies.ts";

/** GoAlert's integration keys: an address for each type of sender, with the key in the query (contract §23). */
export const goalert: Adapter = {
  kind: "goalert",
  title: "Senders for GoAlert",
  identity: { title: ["summary"], labels: ["monitor"], named: "all" },
  room: "source",
  caps: alertCaps,
  fixed(path) {
    const [, type] = /^\/api\/v2\/([a-z0-9]+)\/incoming\/?$/.exec(path) ?? [];
    return type === undefined || !Object.hasOwn(TYPES, type) ? null : `/${type}`;
  },
  // The key can also be a form field.
  tokenIn: (body) =>
    /^[^{]{0,65536}?(?:^|&)token=([0-9A-Za-z_-]{32,80})(?:&|$)/.exec(
      body.toString("latin1"),
    )?.[1] ?? null,
  decode,
  setUp: ({ base, shortToken }) => ({
    where: "the sender, in place of the address of its GoAlert integration key",
    paste: `${base}/v1/in/goalert/generic?token=${shortToken}`,
    notes: [
      "The last part is the type of the key, as in GoAlert's own address: generic, grafana, prometheusalertmanager, site24x7. If the box serves the fixed addresses of senders (--adapters-listen), /api/v2/generic/incoming?token=… works, too.",
      "The name of a generic alert is dedup, else its summary and details; action=close ends it. Heartbeat monitors report to /api/v2/heartbeat/UUID at the same listener, if a heartbeat here has that UUID.",
      "Most senders try once: what they send while the box is off is lost.",
    ],
  }),
};

const TYPES: Readonly<Record<string, (request: InRequest) => Decoded>> = {
  generic,
  site24x7,
  grafana: (request) => ({ ...grafana.decode(request), answer: done }),
  prometheusalertmanager: (request) => ({ ...alertmanager.decode(request), answer: done }),
};

const done = (): SenderReply => ({ status: 200, body: "" });

function decode(request: InRequest): Decoded {
  const [, type = ""] = /^\/([a-z0-9]+)(?:\/incoming)?\/?$/.exec(request.path) ?? [];
  const read = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (read === undefined) throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  return read({ ...request, path: "" });
}

/** Fields can be in the query, a form or JSON; the body wins. */
function generic(request: InRequest): Decoded {
  const { query, header } = request;
  const form = request.body.length === 0 ? {} : (objectOf(bodyValue(request)) ?? {});
  const text = (name: string) => (asText(form[name]) || (query.get(name) ?? "")).trim();
  const [summary, details, dedup] = [text("summary"), text("details"), text("dedup")];
  if (summary === "" && dedup === "") throw new UnreadableBody("summary is required");
  const isOver = text("action") === "close";
  const event = eventOf(
    {
      message: summary || dedup,
      title: summary,
      details,
      isOver,
      dedupKey: dedup || [summary, details].join("\n").trim(),
      keys: metaOf(form["meta"], query),
    },
    request.watched,
  );
  const status = isOver ? "closed" : "triggered";
  const wantsJson = (header("accept") ?? "").includes("application/json");
  const answer = wantsJson
    ? () => jsonReply(200, { status, summary, details, source: "generic" })
    : () => ({ status: 204, body: "" });
  return { events: [event], rejected: [], answer };
}

/** `meta` is an object in JSON, and `meta=name=value` in a query. */
function metaOf(given: unknown, query: URLSearchParams): [string, string][] {
  const fields: JsonFields = objectOf(given) ?? {};
  const pairs = query.getAll("meta").map((text): [string, string] => {
    const [name = "", ...value] = text.split("=");
    return [name, value.join("=")];
  });
  const own = Object.entries(fields).map(([name, value]): [string, string] => [
    name,
    asText(value),
  ]);
  return [...pairs, ...own].filter(([name]) => name !== "");
}

const STATES: Readonly<Record<string, number>> = {
  DOWN: 500,
  CRITICAL: 500,
  TROUBLE: 400,
  UP: 200,
};

function site24x7(request: InRequest): Decoded {
  const fields = objectOf(jsonBody(request.body)) ?? {};
  const text = (name: string) => asText(fields[name]).trim();
  const [name, state] = [text("MONITORNAME"), text("STATUS").toUpperCase()];
  const level = Object.hasOwn(STATES, state) ? STATES[state] : undefined;
  if (level === undefined) throw new UnreadableBody("STATUS is missing or unknown");
  const event = eventOf(
    {
      message: `${name} is ${state.toLowerCase()}`,
      level,
      isOver: state === "UP",
      dedupKey: request.query.get("dedup") || `site24x7:${name}`,
      details: text("INCIDENT_REASON"),
      keys: [["monitor", name]],
      link: text("MONITOR_DASHBOARD_LINK"),
    },
    request.watched,
  );
  return { events: [event], rejected: [], answer: done };
}

function eventOf(
  said: {
    message: string;
    title?: string;
    details: string;
    dedupKey: string;
    isOver: boolean;
    keys: readonly [string, string][];
    level?: number;
    link?: string;
  },
  watched: WatchedKeys,
): IngestEvent {
  const { message, title = "", details, dedupKey, keys, level = ALERT_LEVEL, link = "" } = said;
  const action = said.isOver ? "resolve" : "fire";
  return fitted(
    {
      message,
      title,
      level,
      details,
      keys,
      tags: ["goalert"],
      named: { action, dedupKey, instance: null, expiresAt: null },
      links: [{ href: link, text: "Source" }],
    },
    watched,
  );
}
