import { inflateSync } from "node:zlib";
import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  baseOfBox,
  type Decoded,
  type InRefusal,
  type InRequest,
  type JobReport,
  type Rejected,
  type SenderReply,
  UnreadableBody,
} from "./adapter.ts";
import { fitted, type Loose } from "./fit.ts";
import { asText, type JsonFields, jsonBody, jsonOr, objectOf, objectsIn } from "./json.ts";
import { jsonReply, statusOf } from "./replies.ts";
import { sentryCheckIn } from "./sentry/check-in.ts";
import { type EnvelopeItem, headersOf, readEnvelope } from "./sentry/envelope.ts";
import { sentryEvent, sentryFeedback, sentryLog } from "./sentry/event.ts";

const MIB = 1024 * 1024;
/** Bytes of one event; Sentry accepts half of that. */
const MOST_EVENT = 2 * MIB;
const MOST_LOGS = 1000;

/** The number is Sentry's project id. Here the key identifies the source. */
const CALL = /^\/api\/\d{1,20}\/(envelope|store)\/?$/;

/** For SDKs in browsers, which also read the rate limits. */
const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "POST",
  "access-control-allow-headers":
    "sentry-trace, baggage, x-sentry-auth, content-type, content-encoding",
  "access-control-expose-headers": "x-sentry-error, x-sentry-rate-limits, retry-after",
};
/** Kinds of data that the box doesn't use, so that SDKs stop sending them. */
const UNWANTED = {
  "x-sentry-rate-limits":
    "3600:transaction;span;session;profile;replay;attachment;metric_bucket:key",
};

/** Sentry's SDKs: envelopes, and the single events of old SDKs. */
export const sentry: Adapter = {
  kind: "sentry",
  title: "Programs with a Sentry SDK",
  identity: {
    title: ["exception", "message"],
    labels: ["sentry.group", "environment"],
    named: "none",
  },
  room: "source",
  caps: { sent: 20 * MIB, inflated: 32 * MIB },
  preflight: CORS,
  fixed: (path) => (CALL.test(path) ? path : null),
  tokenIn: (body) => {
    const dsn = asText(headersOf(body)?.["dsn"]);
    return URL.canParse(dsn) ? new URL(dsn).username : null;
  },
  decode,
  refuse,
  setUp: ({ base, shortToken }) => ({
    where: "the program, as its DSN",
    paste: `SENTRY_DSN=${baseOfBox(base).replace("://", `://${shortToken}@`)}/v1/in/sentry/1`,
    notes: [
      "The box takes errors, messages, logs, feedback and check-ins, and refuses other data. A rule with the identifier sentry.group has one alert for each kind of error. A check-in reports to the heartbeat of its slug that names this source. If the SDK says when the monitor is expected, the first check-in makes the heartbeat. Rules for heartbeats match its events; without such rules, the rules for this source do.",
      "The box leaves out e-mail addresses, IP addresses and requests of users, unless the source's option sentry_pii is true.",
      "SDKs never try again: what they report while the box is off is lost.",
    ],
  }),
};

function decode(request: InRequest): Decoded {
  const [, call] = CALL.exec(request.path) ?? [];
  if (call === undefined) throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  return call === "store" ? storeCall(request) : envelopeCall(request);
}

function storeCall(request: InRequest): Decoded {
  const event = objectOf(jsonBody(unwrapped(request.body)));
  if (event === null) throw new UnreadableBody("The event is no object.");
  const id = asText(event["event_id"]);
  return answered({
    events: [fitted(sentryEvent(event, privacyOf(request)), request.watched)],
    ids: [id],
    jobs: [],
    rejected: [],
    id,
    fault: null,
  });
}

/** Very old SDKs send base64 of zlib without a header that says so. */
function unwrapped(body: Buffer): Buffer {
  const [first = 0x7b] = body;
  if (first === 0x7b || first <= 0x20) return body;
  try {
    return inflateSync(Buffer.from(body.toString("latin1"), "base64"), {
      maxOutputLength: MOST_EVENT,
    });
  } catch {
    return body;
  }
}

function envelopeCall(request: InRequest): Decoded {
  const envelope = readEnvelope(request.body);
  if (envelope === null) throw new UnreadableBody("The envelope has no headers.");
  const events: IngestEvent[] = [];
  const ids: (string | null)[] = [];
  const jobs: JobReport[] = [];
  const rejected: Rejected[] = [];
  let id = "";
  for (const item of envelope.items) {
    if (item.payload.length > MOST_EVENT && item.type === "event")
      throw new UnreadableBody({ why: "too_large" });
    let fields = objectOf(wanted(item) ? jsonOr(item.payload) : {});
    if (fields === null) {
      rejected.push({ reason: `an item of type ${item.type.slice(0, 40)} is no JSON object` });
      continue;
    }
    const job = item.type === "check_in" ? sentryCheckIn(fields, request.watched) : null;
    if (job !== null) jobs.push(job);
    // Some SDKs write the id only into the envelope's headers.
    const said = item.type === "event" ? asText(envelope.headers["event_id"]) : "";
    if (said !== "" && asText(fields["event_id"]) === "") fields = { ...fields, event_id: said };
    const own = item.type === "event" ? asText(fields["event_id"]) : "";
    if (own !== "") id = own;
    for (const loose of eventsOf(item.type, fields, privacyOf(request))) {
      events.push(fitted(loose, request.watched));
      ids.push(own === "" ? null : own.replaceAll("-", "").toLowerCase());
    }
  }
  return answered({ events, ids, jobs, rejected, id, fault: envelope.fault });
}

const WANTED = new Set(["event", "log", "feedback", "user_report", "check_in"]);
const wanted = ({ type }: EnvelopeItem) => WANTED.has(type);

function eventsOf(type: string, fields: JsonFields, privacy: { pii: boolean }): Loose[] {
  switch (type) {
    case "event":
      return [sentryEvent(fields, privacy)];
    case "log":
      return objectsIn(fields["items"], MOST_LOGS).map((line) => sentryLog(line, privacy));
    case "feedback":
    case "user_report":
      return [sentryFeedback(fields)];
    default:
      return [];
  }
}

const privacyOf = ({ options }: InRequest) => ({ pii: options.sentry_pii === true });

function answered(of: {
  events: readonly IngestEvent[];
  ids: readonly (string | null)[];
  jobs: readonly JobReport[];
  rejected: readonly Rejected[];
  id: string;
  fault: string | null;
}): Decoded {
  const { events, ids, jobs, id, fault } = of;
  const rejected = fault === null ? of.rejected : [...of.rejected, { reason: fault }];
  const headers = { ...CORS, ...UNWANTED };
  return {
    events,
    ids,
    jobs,
    rejected,
    answer: () =>
      fault === null
        ? { ...jsonReply(200, id === "" ? {} : { id: id.slice(0, 64) }), headers }
        : { ...jsonReply(400, { detail: fault, causes: [] }), headers },
  };
}

/** After a 429 an SDK drops the request, and every other until the stated time: here five seconds. */
function refuse(refusal: InRefusal): SenderReply {
  const { status, message } = statusOf(refusal);
  if (refusal.why === "unauthorized")
    return {
      ...jsonReply(403, { detail: "missing authorization information", causes: [] }),
      headers: CORS,
    };
  const body = { detail: message, causes: [] };
  if (refusal.why !== "overloaded") return { ...jsonReply(status, body), headers: CORS };
  return {
    ...jsonReply(429, body),
    headers: { ...CORS, "retry-after": "5", "x-sentry-rate-limits": "5:error;default:key" },
  };
}
