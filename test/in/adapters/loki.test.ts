import assert from "node:assert/strict";
import { test } from "node:test";
import { BrokenSnappy, unsnappy } from "../../../src/in/adapters/loki/snappy.ts";
import { loki } from "../../../src/in/adapters/loki.ts";
import fc from "../../support/property.ts";
import { sent } from "./clean.ts";
import { lineSamples } from "./line-samples.ts";
import { part, snappy, typed } from "./wire.ts";

const counts = { accepted: 0, resolved: 0, rejected: 0 };
const read = (body: object) => loki.decode(sent(JSON.stringify(body), typed("application/json")));

test("JSON and protobuf give the same: an event for each line", () => {
  for (const request of lineSamples["loki"] ?? []) {
    const { events, rejected, answer } = loki.decode(request);
    assert.deepEqual(
      events.map(({ message, level }) => [message, level]),
      [
        ["payment failed", 400],
        ["GET / 500", 300],
        ["pool ready", 100],
        ["GET /a 200", 200],
      ],
    );
    const [first, second] = events;
    assert.deepEqual(
      { ...first?.keys },
      { level: "error", job: "shop", host: "db-01", orderId: "17" },
    );
    assert.equal(second?.keys?.["trace_id"], "0af7");
    assert.deepEqual([first?.tags, first?.extra?.occurredAt], [["loki"], 1_767_603_600]);
    assert.deepEqual([rejected.length, answer(counts)], [0, { status: 204, body: "" }]);
  }
});

test("a line's level comes from its labels, else from the line, also in pino's numbers", () => {
  const level = (line: string, stream: object = {}) =>
    read({ streams: [{ stream, values: [["1", line]] }] }).events[0]?.level;
  assert.equal(level("x", { detected_level: "critical" }), 500);
  assert.equal(level("ERROR x", { detected_level: "unknown" }), 400);
  assert.deepEqual(
    [10, 20, 30, 40, 50, 60].map((n) => level(`{"level":${n}}`)),
    [100, 100, 200, 300, 400, 500],
  );
  assert.equal(level("plain"), 200);
});

test("a bad entry or label doesn't affect good ones, and the answer is success", () => {
  const { events, rejected, answer } = read({
    streams: [7, { stream: {}, values: [["1", "good"], ["1"], 5, ["x", "too"]] }],
  });
  assert.deepEqual(
    events.map(({ message }) => message),
    ["good", "too"],
  );
  assert.deepEqual([rejected.length, answer(counts).status], [3, 204]);
  const push = part(1, part(1, '{a="b\\n\\"c", 7}'), part(2, part(2, "line")));
  const inProtobuf = loki.decode(sent(snappy(push), typed("application/x-protobuf")));
  assert.equal(inProtobuf.events[0]?.keys?.["a"], 'b\n"c');
  assert.equal(inProtobuf.rejected.length, 1);
  const old = {
    streams: [{ labels: '{a="b"}', entries: [{ ts: "2026-01-05T09:00:00Z", line: "l" }] }],
  };
  assert.deepEqual(read(old).events[0]?.extra?.occurredAt, 1_767_603_600);
});

test("Loki's readiness path answers", () => {
  const { events, answer } = loki.decode(sent("", { method: "GET", path: "/ready" }));
  assert.deepEqual(
    [events.length, answer(counts).status, answer(counts).body],
    [0, 200, "ready\n"],
  );
});

test("snappy: a block is decompressed, and a bomb is refused before that", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 400 }),
      fc.integer({ min: 1, max: 5 }),
      (bytes, times) => {
        const whole = Buffer.concat(Array(times).fill(Buffer.from(bytes)));
        assert.deepEqual(unsnappy(snappy(whole), 10_000), whole);
      },
    ),
  );
  const bomb = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0, 65]);
  assert.throws(() => unsnappy(bomb, 2 ** 40), BrokenSnappy);
  assert.throws(() => unsnappy(snappy(Buffer.alloc(2000)), 1999), BrokenSnappy);
  for (const bad of [[], [5], [4, 1 | (0 << 2), 0], [2, 0, 65], [1, 4, 65, 66]])
    assert.throws(() => unsnappy(Buffer.from(bad), 100), BrokenSnappy);
});
