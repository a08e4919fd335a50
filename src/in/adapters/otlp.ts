import {
  type Adapter,
  type Decoded,
  type InRefusal,
  type InRequest,
  lineCaps,
  MOST_LINES,
  type Rejected,
  type SenderReply,
  UnreadableBody,
} from "./adapter.ts";
import { jsonBody, objectOf } from "./json.ts";
import { recordsOfJson } from "./otlp/from-json.ts";
import { recordsOfProtobuf } from "./otlp/from-protobuf.ts";
import { type OtlpRecord, otlpEvent } from "./otlp/record.ts";
import { BrokenProtobuf } from "./protobuf.ts";
import { statusOf } from "./replies.ts";

const LOGS = ["", "/", "/v1/logs"];
/** Accepted and dropped, so that an SDK with one endpoint for all signals logs no errors. */
const DROPPED = ["/v1/traces", "/v1/metrics", "/v1development/profiles"];
const PROTOBUF = "application/x-protobuf";

/** OpenTelemetry's logs over OTLP/HTTP (contract §23), in protobuf and in JSON. */
export const otlp: Adapter = {
  kind: "otlp",
  title: "OpenTelemetry logs",
  identity: { title: [], labels: ["service.name", "host.name"], named: "none" },
  room: "project",
  caps: lineCaps,
  fixed: (path) => (path === "/v1/logs" || DROPPED.includes(path) ? path : null),
  decode,
  refuse,
  setUp: ({ base, token }) => ({
    where: "the environment of a program with an OpenTelemetry SDK",
    paste: [
      `OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=${base}/v1/in/otlp/v1/logs`,
      `OTEL_EXPORTER_OTLP_LOGS_HEADERS=Authorization=Bearer%20${token}`,
      "OTEL_LOGS_EXPORTER=otlp",
      "OTEL_EXPORTER_OTLP_LOGS_PROTOCOL=http/protobuf",
    ].join("\n"),
    notes: [
      "The Collector: use the exporter otlphttp with endpoint and headers as above. The box has no gRPC (port 4317): the Collector and every SDK can use HTTP.",
      "With --otlp HOST:4318 the SDKs' usual address works: http://HOST:4318, with the token in the headers. --otlp HOST:4318=PROJECT/SOURCE needs no token, but --allow-from if other machines can reach it.",
      "The box accepts traces and metrics at the same endpoint, but discards them.",
      "The severity number decides the level. Attributes of resource and record become keys.",
      "While the box is off, an SDK tries again for about a minute, the Collector for five, or as long as its sending_queue has space.",
    ],
  }),
};

const typeOf = (header: InRequest["header"]) =>
  (header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

function decode(request: InRequest): Decoded {
  const { method, path } = request;
  if (!LOGS.includes(path) && !DROPPED.includes(path))
    throw new UnreadableBody({ why: "not_found" });
  if (method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  const type = typeOf(request.header);
  if (type !== PROTOBUF && type !== "application/json")
    throw new UnreadableBody({ why: "media_type", taken: [PROTOBUF, "application/json"] });
  const { records, rejected } = DROPPED.includes(path)
    ? { records: [], rejected: [] }
    : recordsOf(request, type);
  if (records.length + rejected.length > MOST_LINES) throw new UnreadableBody({ why: "too_large" });
  return {
    events: records.map((record) => otlpEvent(record, request)),
    rejected,
    answer: () => answer(type, rejected),
  };
}

function recordsOf(
  { body, watched }: InRequest,
  type: string,
): { records: OtlpRecord[]; rejected: readonly Rejected[] } {
  if (type === PROTOBUF) {
    try {
      return { records: recordsOfProtobuf(body, { most: MOST_LINES, watched }), rejected: [] };
    } catch (error) {
      if (!(error instanceof BrokenProtobuf)) throw error;
      throw new UnreadableBody("The body is no protobuf.");
    }
  }
  const fields = objectOf(jsonBody(body));
  if (fields === null) throw new UnreadableBody("The body must be an object.");
  return recordsOfJson(fields, MOST_LINES);
}

function answer(type: string, rejected: readonly Rejected[]): SenderReply {
  const headers = { "content-type": type };
  const [first] = rejected;
  // In protobuf no single record is rejected: a full success has no bytes.
  if (type === PROTOBUF || first === undefined)
    return { status: 200, headers, body: type === PROTOBUF ? "" : "{}" };
  const partial = { rejectedLogRecords: String(rejected.length), errorMessage: first.reason };
  return { status: 200, headers, body: JSON.stringify({ partialSuccess: partial }) };
}

/** A google.rpc.Status in the request's encoding. A client repeats after a 503 and never after a 500. */
function refuse(refusal: InRefusal, header: InRequest["header"] = () => undefined): SenderReply {
  const { status: plain, message } = statusOf(refusal);
  const status = plain === 500 ? 503 : plain;
  const again = plain === 500 ? { "retry-after": "5" } : {};
  if (typeOf(header) !== PROTOBUF)
    return { status, headers: again, body: JSON.stringify({ message }) };
  const text = message.slice(0, 120).replaceAll(/[^ -~]/g, "?");
  const body = `\u0012${String.fromCharCode(text.length)}${text}`;
  return { status, headers: { ...again, "content-type": PROTOBUF }, body };
}
