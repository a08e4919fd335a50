import assert from "node:assert/strict";
import { test } from "node:test";
import { elasticsearch } from "../../../src/in/adapters/elasticsearch.ts";
import { sent } from "./clean.ts";
import { bulkLines, lineSamples } from "./line-samples.ts";

const counts = { accepted: 0, resolved: 0, rejected: 0 };
const bulk = (body: string, more = {}) =>
  elasticsearch.decode(sent(body, { path: "/_bulk", ...more }));

test("each document of a bulk request is an event, and each action gets its answer in order", () => {
  for (const request of lineSamples["elasticsearch"] ?? [])
    assert.deepEqual(
      elasticsearch.decode(request).events.map(({ message, level }) => [message, level]),
      [
        ["payment failed", 400],
        ["GET /healthz 200", 200],
        ["WARN slow", 300],
      ],
    );
  const { events, rejected, answer } = elasticsearch.decode(
    sent(bulkLines(), { path: "/logs/_bulk" }),
  );
  assert.deepEqual(
    { ...events[0]?.keys },
    {
      "host.name": "web-01",
      "log.level": "error",
      "log.offset": "1234",
    },
  );
  assert.deepEqual(events[0]?.tags, ["elasticsearch", "shop", "eu"]);
  assert.equal(events[0]?.extra?.occurredAt, 1_767_603_600);
  assert.equal(rejected.length, 0);
  const { status, headers, body } = answer(counts);
  assert.deepEqual([status, headers?.["x-elastic-product"]], [200, "Elasticsearch"]);
  const { errors, items } = JSON.parse(body as string);
  assert.equal(errors, false);
  assert.deepEqual(
    items.map(
      (item: object) =>
        Object.entries(item).map(([verb, { _index, status }]) => [verb, _index, status])[0],
    ),
    [
      ["create", "filebeat-8.15.0", 201],
      ["index", "logs", 201],
      ["delete", "logs", 200],
      ["update", "logs", 200],
    ],
  );
  assert.equal(items[1].index._id, "7");
});

test("a bad line of a bulk request doesn't affect good ones and is answered as success", () => {
  const good = '{"index":{}}\n{"message":"good"}';
  const { events, rejected, answer } = bulk(`{"index":{}}\n[]\n{"else":{}}\n${good}\n{"index":{}}`);
  assert.deepEqual([events.length, events[0]?.message, rejected.length], [1, "good", 3]);
  const { errors, items } = JSON.parse(answer(counts).body as string);
  assert.deepEqual([errors, items.length], [false, 4]);
  for (const item of items)
    assert.equal((Object.values(item)[0] as { status: number }).status, 201);
});

test("a document's text and level are found wherever they stand among its fields", () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, "v"]));
  for (const log of [
    { log: { level: "error" } },
    { "log.level": "error" },
    { log: { original: "x" }, "log.level": "error" },
  ]) {
    const document = { ...many, message: "payment failed", ...log };
    const [event] = bulk(`{"index":{}}\n${JSON.stringify(document)}`).events;
    assert.deepEqual([event?.message, event?.level], ["payment failed", 400]);
    assert.match(event?.keys?.["box.cut"] ?? "", /keys/);
  }
});

test("what is too long for an id isn't said again in the answer", () => {
  const named = (id: string) => `{"index":{"_index":"${id}","_id":"${id}"}}\n{"message":"a"}`;
  for (const [length, isSaid] of [
    [512, true],
    [513, false],
  ] as const) {
    const { events, rejected, answer } = bulk(named("x".repeat(length)));
    assert.deepEqual([events.length, rejected.length], [1, 0]);
    assert.equal(String(answer(counts).body).includes("xxx"), isSaid, `${length}`);
  }
});

test("filter_path limits the answer of a bulk request", () => {
  const answered = (filter_path: string) => {
    const query = new URLSearchParams({ filter_path });
    return Object.keys(JSON.parse(bulk(bulkLines(), { query }).answer(counts).body as string));
  };
  assert.deepEqual(answered("errors,items.*.error"), ["errors"]);
  assert.deepEqual(answered("took,errors,items"), ["took", "errors", "items"]);
});

test("the requests of a shipper before it sends get their answers", () => {
  const ask = (method: string, path: string) => {
    const { events, answer } = elasticsearch.decode(sent("", { method, path }));
    assert.equal(events.length, 0);
    return answer(counts);
  };
  assert.equal(JSON.parse(ask("GET", "/").body as string).version.number, "8.15.0");
  assert.equal(ask("HEAD", "/").body, "");
  assert.equal(JSON.parse(ask("GET", "/_license").body as string).license.status, "active");
  for (const path of ["/_index_template/filebeat", "/_ilm/policy/x", "/_data_stream/a", "/logs"])
    assert.deepEqual(JSON.parse(ask("PUT", path).body as string), { acknowledged: true });
  for (const [method, path] of [
    ["GET", "/_search"],
    ["POST", "/logs/_search"],
    ["DELETE", "/logs"],
  ] as const)
    assert.throws(() => ask(method, path), { message: "not_found" }, path);
  assert.throws(() => ask("GET", "/_bulk"), { message: "method" });
  const many = '{"index":{}}\n{}\n'.repeat(10_001);
  assert.throws(() => bulk(many), { message: "too_large" });
});
