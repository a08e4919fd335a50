import assert from "node:assert/strict";
import { otlp } from "../../../src/in/adapters/otlp.ts";
import { long, test } from "../../support/long.ts";
import { sent } from "./clean.ts";
import { lineSamples, otlpRequest, PROTOBUF } from "./line-samples.ts";
import { part, typed } from "./wire.ts";

const counts = { accepted: 0, resolved: 0, rejected: 0 };
const json = typed("application/json");
const read = (body: object) => otlp.decode(sent(JSON.stringify(body), json));

test("JSON and protobuf give the same text, level, keys, stack and time", () => {
  for (const request of lineSamples["otlp"] ?? []) {
    const { events, answer } = otlp.decode(request);
    assert.deepEqual(
      events.map(({ message, level }) => [message, level]),
      [
        ["payment 8812 failed", 400],
        ["cart.updated", 300],
        ["crash", 500],
      ],
    );
    const [first, second, third] = events;
    const isJson = request.header("content-type") !== PROTOBUF;
    assert.deepEqual(
      { ...first?.keys },
      {
        "service.name": "checkout",
        "deployment.environment.name": "production",
        "http.response.status_code": "502",
        "order.id": isJson ? "9007199254740993" : "7",
        latency: "31.5",
        tags: "pay, card",
        scope: "http",
        severity: "ERROR",
        trace_id: "0af7651916cd43dd8448eb211c80319c",
      },
    );
    assert.deepEqual(first?.tags, ["otlp", "production"]);
    assert.equal(first?.extra?.occurredAt, 1_767_603_600);
    assert.equal(second?.keys?.["n"], "3");
    assert.equal(third?.extra?.details, "at a\nat b");
    const { status, body, headers } = answer(counts);
    assert.deepEqual([status, body], [200, isJson ? "{}" : ""]);
    assert.equal(headers?.["content-type"], request.header("content-type"));
  }
});

test("a record without a severity gets the level of its attributes, body or line", () => {
  const events = (record: object, options = {}) => {
    const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] });
    return otlp
      .decode({ ...sent(body, { options }), header: json.header })
      .events.map(({ message, level }) => [message, level]);
  };
  const map = (fields: Record<string, string>) => ({
    kvlistValue: {
      values: Object.entries(fields).map(([key, stringValue]) => ({ key, value: { stringValue } })),
    },
  });
  const text = (stringValue: string) => ({ body: { stringValue } });
  const level = { key: "level", value: { stringValue: "error" } };
  for (const [record, expected] of [
    [{ ...text("a"), attributes: [level] }, ["a", 400]],
    [{ body: map({ log: "a", level: "warn" }) }, ["a", 300]],
    [{ body: map({ log: '{"level":"fatal","msg":"a"}', stream: "stderr" }) }, ["a", 500]],
    [text('{"level":"error","msg":"a"}'), ["a", 400]],
    [text('{"level":50,"msg":"a"}'), ["a", 400]],
    [text("2026-11-23 04:00:00 ERROR a"), ["2026-11-23 04:00:00 ERROR a", 400]],
    [text("level=warn msg=a"), ["level=warn msg=a", 300]],
    [text("no ERRORS here"), ["no ERRORS here", 200]],
    [{ ...text("ERROR a"), severityNumber: 9 }, ["ERROR a", 200]],
    [{ ...text("ERROR a"), severityText: "debug" }, ["ERROR a", 100]],
  ] as const)
    assert.deepEqual(events(record), [expected]);
  assert.deepEqual(events(text("ERROR a"), { level_from_text: false }), [["ERROR a", 200]]);
});

test("snake_case names and numbers as text are accepted, and a bad record doesn't affect good ones", () => {
  const records = [
    { severity_number: "17", body: { string_value: "good" }, time_unix_nano: 1.7676036e18 },
    { severityNumber: "ERROR", body: { stringValue: "a name, which OTLP has not" } },
    7,
  ];
  const { events, rejected, answer } = read({
    resource_logs: [{ scope_logs: [{ log_records: records }] }],
  });
  assert.deepEqual(
    events.map(({ message, level, extra }) => [message, level, extra?.occurredAt]),
    [["good", 400, 1_767_603_600]],
  );
  assert.equal(rejected.length, 2);
  assert.deepEqual(
    JSON.parse(answer(counts).body as string).partialSuccess.rejectedLogRecords,
    "2",
  );
});

test("a record without a body gets its message from other fields", () => {
  const first = (record: object) =>
    read({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] }).events[0]?.message;
  const map = (key: string) => ({
    kvlistValue: { values: [{ key, value: { stringValue: "x" } }] },
  });
  const thrown = [
    { key: "exception.type", value: { stringValue: "E" } },
    { key: "exception.message", value: { stringValue: "boom" } },
  ];
  assert.equal(first({}), "(empty)");
  assert.equal(first({ eventName: "e" }), "e");
  assert.equal(first({ attributes: thrown }), "E: boom");
  assert.equal(first({ body: map("msg") }), "x");
  assert.equal(first({ body: map("other") }), '{"other":"x"}');
  assert.equal(first({ body: { intValue: 5 } }), "5");
});

test("other signals are accepted and dropped, other types refused, each in its own encoding", () => {
  for (const path of ["/v1/traces", "/v1/metrics"]) {
    const { events, answer } = otlp.decode(sent("anything", { path, ...typed(PROTOBUF) }));
    assert.deepEqual([events.length, answer(counts).status], [0, 200]);
  }
  const many = Array.from({ length: 10_001 }, () => ({}));
  const { header } = json;
  const refusals: [Parameters<typeof sent>[1], string][] = [
    [typed("text/plain"), "media_type"],
    [{ path: "/v1/else", ...json }, "not_found"],
    [{ method: "GET", ...json }, "method"],
    [{ body: Buffer.from("[]"), ...json }, "bad_request"],
    [{ body: Buffer.from("\x0a\xff"), ...typed(PROTOBUF) }, "bad_request"],
    [{ body: nested(70), ...typed(PROTOBUF) }, "bad_request"],
    [
      {
        body: Buffer.from(
          JSON.stringify({
            resourceLogs: [
              { scopeLogs: [{ logRecords: many.slice(1) }, { logRecords: many.slice(1) }] },
            ],
          }),
        ),
        ...json,
      },
      "too_large",
    ],
  ];
  for (const [request, why] of refusals)
    assert.throws(() => otlp.decode(sent("", request)), { message: why }, why);
  assert.equal(otlp.refuse?.({ why: "internal" }, header).status, 503);
  const refused = otlp.refuse?.({ why: "bad_request", message: "no" }, typed(PROTOBUF).header);
  assert.deepEqual(Buffer.from(refused?.body ?? ""), part(2, "no"));
  assert.equal(otlp.refuse?.({ why: "media_type", taken: [] }, header).status, 415);
});

/** A record whose body is a nested list of this depth. */
function nested(depth: number): Buffer {
  let value = part(1, "x");
  for (let i = 0; i < depth; i++) value = part(5, part(1, value));
  return part(1, part(2, part(2, part(5, value))));
}

test("the sample request is complete", () => {
  assert.equal(read(otlpRequest()).events.length, 3);
});

long(
  "a record of very many attributes takes no longer than the same as JSON takes to parse",
  () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `n${i.toString(36)}`);
    const pairs = names.map((name) => part(6, part(1, name), part(2, part(1, "v"))));
    const request = sent(part(1, part(2, part(2, part(5, part(1, "full")), ...pairs))), {
      ...typed(PROTOBUF),
    });
    const text = JSON.stringify(names.map((key) => ({ key, value: { stringValue: "v" } })));
    const [event] = otlp.decode(request).events;
    assert.equal(event?.keys?.["n0"], "v");
    assert.match(event?.keys?.["box.cut"] ?? "", /keys/);
    const shortest = (work: () => unknown) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const from = performance.now();
          work();
          return performance.now() - from;
        }),
      );
    const [took, parsed] = [() => otlp.decode(request), () => JSON.parse(text)].map(shortest);
    assert.ok((took ?? 0) < (parsed ?? 0), `${took} ms beside ${parsed} ms`);
  },
);

long(
  "above the limit of attributes those that rules use are found, in maps too, as fast as in JSON",
  () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `n${i.toString(36)}`);
    const pair = (name: string) => [part(1, name), part(2, part(1, "v"))];
    const pairs = names.map((name) => part(6, ...pair(name)));
    const long = "x".repeat(200);
    const map = part(6, ...names.slice(0, 300).map((name) => part(1, ...pair(name))));
    const last = [part(6, ...pair(long)), part(6, part(1, "map"), part(2, map))];
    const body = part(1, part(2, part(2, part(5, part(1, "full")), ...pairs, ...last)));
    const watched = ["n255r", long, "map.n8b", "nowhere.at.all"];
    const request = sent(body, { ...typed(PROTOBUF), watched: () => new Set(watched) });
    const { keys } = otlp.decode(request).events[0] ?? {};
    assert.deepEqual(
      watched.map((name) => keys?.[name]),
      ["v", "v", "v", undefined],
    );
    const text = JSON.stringify(names.map((key) => ({ key, value: { stringValue: "v" } })));
    const shortest = (work: () => unknown) =>
      Math.min(
        ...Array.from({ length: 5 }, () => {
          const from = process.threadCpuUsage();
          work();
          const { user, system } = process.threadCpuUsage(from);
          return (user + system) / 1000;
        }),
      );
    const [took, parsed] = [shortest(() => otlp.decode(request)), shortest(() => JSON.parse(text))];
    assert.ok(took < 2 * parsed, `${took} ms, the same as JSON ${parsed} ms`);
  },
);

test("only the beginning of very long lists and maps is read", () => {
  const list = part(5, ...Array.from({ length: 5000 }, () => part(1, part(1, "x"))));
  const map = part(
    6,
    ...Array.from({ length: 5000 }, (_, i) => part(1, part(1, `n${i}`), part(2, part(1, "v")))),
  );
  const record = [
    part(5, part(1, "full")),
    ...[list, map].map((v, i) => part(6, part(1, `k${i}`), part(2, v))),
  ];
  const [event] = otlp.decode(sent(part(1, part(2, part(2, ...record))), typed(PROTOBUF))).events;
  assert.match(event?.keys?.["k0"] ?? "", /^x, x, x/);
  assert.equal(event?.keys?.["k1.n0"], "v");
});
