import type { InRequest } from "../../../src/in/adapters/adapter.ts";
import { sent } from "./clean.ts";
import { fixed, part, snappy, typed, whole } from "./wire.ts";

export const PROTOBUF = "application/x-protobuf";
const NANOS = 1_767_603_600_000_000_000n;

/** Requests of senders of log lines. */
export const lineSamples: Readonly<Record<string, readonly InRequest[]>> = {
  syslog: [sent(syslogStream())],
  otlp: [
    sent(JSON.stringify(otlpRequest()), { path: "/v1/logs", ...typed("application/json") }),
    sent(otlpProtobuf(), { path: "/v1/logs", ...typed(PROTOBUF) }),
  ],
  elasticsearch: [
    sent(bulkLines(), { path: "/_bulk" }),
    sent(bulkLines(), { path: "/logs/_bulk", query: new URLSearchParams("filter_path=errors") }),
  ],
  gelf: [
    sent(JSON.stringify(gelfMessage())),
    sent(`${JSON.stringify(gelfMessage())}\n{"short_message":"second","level":"x"}\n`, {
      path: "/gelf",
    }),
  ],
  loki: [
    sent(JSON.stringify(lokiPush()), { path: "/loki/api/v1/push", ...typed("application/json") }),
    sent(snappy(lokiProtobuf()), { path: "/loki/api/v1/push", ...typed(PROTOBUF) }),
  ],
};

export function otlpRequest() {
  const pair = (key: string, value: object) => ({ key, value });
  const text = (stringValue: string) => ({ stringValue });
  const resource = {
    attributes: [
      pair("service.name", text("checkout")),
      pair("deployment.environment.name", text("production")),
    ],
  };
  const logRecords = [
    {
      timeUnixNano: String(NANOS),
      severityNumber: 17,
      severityText: "ERROR",
      body: text("payment 8812 failed"),
      attributes: [
        pair("http.response.status_code", { intValue: 502 }),
        pair("order.id", { intValue: "9007199254740993" }),
        pair("latency", { doubleValue: 31.5 }),
        pair("tags", { arrayValue: { values: [text("pay"), text("card")] } }),
      ],
      traceId: "0AF7651916CD43DD8448EB211C80319C",
      spanId: "",
    },
    {
      severity_text: "warn",
      body: {
        kvlistValue: { values: [pair("event", text("cart.updated")), pair("n", { intValue: 3 })] },
      },
    },
    {
      severityNumber: 21,
      eventName: "crash",
      attributes: [
        pair("exception.type", text("OutOfMemory")),
        pair("exception.stacktrace", text("at a\nat b")),
      ],
    },
  ];
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: "http" }, logRecords }] }] };
}

/** The same in protobuf, but for the number that JSON has as text. */
export function otlpProtobuf(): Buffer {
  const pair = (key: string, ...value: Buffer[]) => [part(1, key), part(2, ...value)] as const;
  const double = Buffer.alloc(8);
  double.writeDoubleLE(31.5);
  const records = [
    part(
      2,
      fixed(1, NANOS),
      whole(2, 17),
      part(3, "ERROR"),
      part(5, part(1, "payment 8812 failed")),
      part(6, ...pair("http.response.status_code", whole(3, 502))),
      part(6, ...pair("order.id", whole(3, 7))),
      part(6, ...pair("latency", fixed(4, double.readBigUInt64LE()))),
      part(6, ...pair("tags", part(5, part(1, part(1, "pay")), part(1, part(1, "card"))))),
      part(9, Buffer.from("0af7651916cd43dd8448eb211c80319c", "hex")),
    ),
    part(
      2,
      part(3, "warn"),
      part(
        5,
        part(
          6,
          part(1, ...pair("event", part(1, "cart.updated"))),
          part(1, ...pair("n", whole(3, 3))),
        ),
      ),
    ),
    part(
      2,
      whole(2, 21),
      part(12, "crash"),
      part(6, ...pair("exception.type", part(1, "OutOfMemory"))),
      part(6, ...pair("exception.stacktrace", part(1, "at a\nat b"))),
    ),
  ];
  const resource = part(
    1,
    part(1, ...pair("service.name", part(1, "checkout"))),
    part(1, ...pair("deployment.environment.name", part(1, "production"))),
  );
  return part(1, resource, part(2, part(1, part(1, "http")), ...records));
}

export function lokiPush() {
  const at = String(NANOS);
  return {
    streams: [
      {
        stream: { level: "error", job: "shop", host: "db-01" },
        values: [[at, '{"level":30,"orderId":17,"msg":"payment failed"}']],
      },
      {
        stream: { job: "nginx" },
        values: [
          [at, "GET / 500", { trace_id: "0af7", level: "warn" }],
          [at, 'level=debug msg="pool ready" n=1'],
          [at, "GET /a 200"],
        ],
      },
    ],
  };
}

/** The same in protobuf. */
export function lokiProtobuf(): Buffer {
  const at = part(1, whole(1, Number(NANOS / 1_000_000_000n)), whole(2, 5));
  const label = (name: string, value: string) => part(3, part(1, name), part(2, value));
  return Buffer.concat([
    part(
      1,
      part(1, '{level="error", job="shop",host="db-01"}'),
      part(2, at, part(2, '{"level":30,"orderId":17,"msg":"payment failed"}')),
    ),
    part(
      1,
      part(1, '{job="nginx"}'),
      part(2, at, part(2, "GET / 500"), label("trace_id", "0af7"), label("level", "warn")),
      part(2, at, part(2, 'level=debug msg="pool ready" n=1')),
      part(2, at, part(2, "GET /a 200")),
    ),
  ]);
}

/** Both framings, both standards, and similar formats. */
function syslogStream(): string {
  const counted = '<27>1 2026-01-05T08:35:41.5Z db nginx 812 ID [a@1 b="c\\"d"][e] \uFEFFünïcode\n';
  return [
    "<27>Jan  5 08:35:41 db nginx[812]: timed out #012 again\n",
    `${Buffer.byteLength(counted)} ${counted}`,
    "<189>4231: *Jan  1 18:46:11.457 UTC: %SYS-5-CONFIG_I: Configured\n",
    "<30>Jan  5 10:12:13 U7PG2,788a20,v6.5: hostapd: left\0",
    "<11>python: division by zero\0no priority level=error\n",
  ].join("");
}

export function gelfMessage() {
  return {
    version: "1.1",
    host: "web-01",
    short_message: "payment provider unreachable",
    full_message: "Error: connect ETIMEDOUT\n    at TCPConnectWrap",
    timestamp: 1_767_603_600.778,
    level: 3,
    _order_id: 17,
    _nested: { a: [1, 2] },
    _none: null,
  };
}

/** Documents of Filebeat and Fluent Bit, with all four actions; the last line has no line end. */
export function bulkLines(): string {
  const time = "2026-01-05T09:00:00.512Z";
  return [
    { create: { _index: "filebeat-8.15.0" } },
    {
      "@timestamp": time,
      host: { name: "web-01" },
      message: "payment failed",
      log: { level: "error", offset: 1234 },
      tags: ["shop", "eu"],
    },
    { index: { _id: "7" } },
    { "@timestamp": time, log: "GET /healthz 200", stream: "stdout" },
    { delete: { _index: "logs", _id: "2" } },
    { update: { _index: "logs", _id: "3" } },
    { doc: { msg: "WARN slow" } },
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
}
