import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  baseOfBox,
  type Decoded,
  type InRefusal,
  type InRequest,
  lineCaps,
  type SenderReply,
  UnreadableBody,
} from "./adapter.ts";
import { type BulkAction, readBulk } from "./elasticsearch/bulk.ts";
import { fitted } from "./fit.ts";
import { flattened, textAt } from "./flatten.ts";
import { asText, type JsonFields, timeOf } from "./json.ts";
import { LINE_LEVEL, levelInText, levelOfValue } from "./line.ts";
import { statusOf } from "./replies.ts";

/** Beats send only to a server with this header. */
const PRODUCT = { "x-elastic-product": "Elasticsearch", "content-type": "application/json" };
const VERSION = {
  number: "8.15.0",
  build_flavor: "default",
  build_type: "docker",
  lucene_version: "9.11.1",
  minimum_wire_compatibility_version: "7.17.0",
  minimum_index_compatibility_version: "7.0.0",
};
const ROOT = {
  name: "box",
  cluster_name: "box",
  cluster_uuid: "AAAAAAAAAAAAAAAAAAAAAA",
  version: VERSION,
  tagline: "You Know, for Search",
};
const LICENSE = { license: { status: "active", type: "basic", uid: "0" } };
const BULK = /^\/(?:([^/_][^/]{0,254})\/)?_bulk\/?$/;
/** Requests by which shippers prepare an index: all are answered with success. */
const SET_UP =
  /^\/(?:_(?:index_template|component_template|template|ilm\/policy|ingest\/pipeline|data_stream|alias)(?:\/|$)|[^/_][^/]{0,254}\/?$)/;
const MESSAGES = ["message", "log", "msg", "event.original"];
const LEVELS = ["log.level", "level", "severity"];

/** Elasticsearch's bulk requests (contract §23), with which Filebeat, Logstash, Fluentd and Fluent Bit send logs. */
export const elasticsearch: Adapter = {
  kind: "elasticsearch",
  title: "Elasticsearch bulk (Filebeat, Logstash, Fluentd, Fluent Bit)",
  identity: { title: [], labels: ["host.name", "service.name"], named: "none" },
  room: "project",
  caps: lineCaps,
  decode,
  refuse,
  setUp: ({ base, token }) => ({
    where: "filebeat.yml, in place of the present output",
    paste: [
      "setup.template.enabled: false",
      "setup.ilm.enabled: false",
      "output.elasticsearch:",
      `  hosts: ['${baseOfBox(base)}']`,
      "  path: /v1/in/elasticsearch",
      "  username: box",
      `  password: ${token}`,
    ].join("\n"),
    notes: [
      "Logstash, Fluentd and Fluent Bit use the same path, any user, and the token as password.",
      "If a sender can set no path, --es HOST:9200 takes bulk requests at the root of a port of its own; --es HOST:9200=PROJECT/SOURCE takes them without a token.",
      "The text is message, log, msg or event.original. The level is log.level, level or severity. All other fields are keys.",
      "The box answers no searches. Keep your present output for them.",
      "While the box is off these senders keep what fits into their queues and try again, Filebeat without end.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  const { method, path } = request;
  const bulk = BULK.exec(path);
  if (bulk !== null) {
    if (method !== "POST" && method !== "PUT")
      throw new UnreadableBody({ why: "method", allowed: ["POST", "PUT"] });
    return decodeBulk(request, bulk[1] ?? "");
  }
  const known = method === "DELETE" || method === "PATCH" ? null : readOf(path, method);
  if (known === null) throw new UnreadableBody({ why: "not_found" });
  const body = method === "HEAD" ? "" : JSON.stringify(known);
  return { events: [], rejected: [], answer: () => ({ status: 200, headers: PRODUCT, body }) };
}

function readOf(path: string, method: string): object | null {
  const isRead = method === "GET" || method === "HEAD";
  if (isRead && (path === "" || path === "/")) return ROOT;
  if (isRead && /^\/_(?:license|xpack)\/?$/.test(path)) return LICENSE;
  return SET_UP.test(path) ? { acknowledged: true } : null;
}

function decodeBulk({ body, at, query, options, watched }: InRequest, index: string): Decoded {
  const { actions, rejected } = readBulk(body, index);
  const documents = actions.flatMap(({ document }) => (document === null ? [] : [document]));
  return {
    events: documents.map((document) => eventOf(document, { options, watched })),
    rejected,
    answer: () => ({ status: 200, headers: PRODUCT, body: answerOf(actions, at, query) }),
  };
}

/** Success for every action: some shippers repeat a whole chunk for one fault. */
function answerOf(actions: readonly BulkAction[], at: number, query: URLSearchParams): string {
  const wanted = (query.get("filter_path") ?? "").split(",").filter((path) => path !== "");
  const has = (name: string) => wanted.length === 0 || wanted.includes(name);
  const items = actions.map(({ verb, index, id }, i) => {
    const made = verb === "create" || verb === "index";
    return {
      [verb]: {
        _index: index,
        _id: id || `${at}-${i}`,
        _version: 1,
        result: made ? "created" : `${verb}d`,
        status: made ? 201 : 200,
        _seq_no: 0,
        _primary_term: 1,
        _shards: { total: 1, successful: 1, failed: 0 },
      },
    };
  });
  const isItems = wanted.some((path) => /^items(?!\.\*\.error)/.test(path));
  return JSON.stringify({
    ...(has("took") ? { took: 1 } : {}),
    ...(has("errors") ? { errors: false } : {}),
    ...(wanted.length === 0 || isItems ? { items } : {}),
  });
}

function eventOf(
  document: JsonFields,
  { options, watched }: Pick<InRequest, "options" | "watched">,
): IngestEvent {
  const named = (names: readonly string[]) => names.find((name) => textAt(document, name) !== "");
  const message = named(MESSAGES);
  const text = message === undefined ? JSON.stringify(document) : textAt(document, message);
  const byText = () => (options.level_from_text === false ? null : levelInText(text));
  return fitted(
    {
      message: text.trim() || "(empty)",
      level: levelOfValue(textAt(document, named(LEVELS) ?? "")) ?? byText() ?? LINE_LEVEL,
      keys: flattened(document, watched).filter(
        ([key]) => key !== message && key !== "@timestamp" && key !== "tags",
      ),
      tags: ["elasticsearch", ...tagsOf(document["tags"])],
      occurredAt: timeOf(document["@timestamp"]),
    },
    watched,
  );
}

function tagsOf(value: unknown): string[] {
  return (Array.isArray(value) ? value.slice(0, 64) : [value]).map(asText);
}

function refuse(refusal: InRefusal): SenderReply {
  const { status, message } = statusOf(refusal);
  const error = { type: refusal.why, reason: message };
  return { status, headers: PRODUCT, body: JSON.stringify({ error, status }) };
}
