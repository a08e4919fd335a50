import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync, gzipSync } from "node:zlib";
import { createChunks, inflatedGelf } from "../../../src/in/adapters/gelf/datagram.ts";
import { gelf } from "../../../src/in/adapters/gelf.ts";
import { sent } from "./clean.ts";
import { gelfMessage, lineSamples } from "./line-samples.ts";

const counts = { accepted: 0, resolved: 0, rejected: 0 };
const first = (fields: object) => gelf.decode(sent(JSON.stringify(fields))).events[0];

test("a message: text, level, keys, details, time", () => {
  for (const request of lineSamples["gelf"] ?? []) {
    const { events, answer } = gelf.decode(request);
    const [event] = events;
    assert.deepEqual([event?.message, event?.level], ["payment provider unreachable", 400]);
    assert.deepEqual({ ...event?.keys }, { host: "web-01", order_id: "17", "nested.a": "1, 2" });
    assert.match(event?.extra?.details ?? "", /TCPConnectWrap/);
    assert.equal(event?.extra?.occurredAt, 1_767_603_600);
    assert.deepEqual(answer(counts), { status: 202, body: "" });
  }
  assert.equal(
    first({ ...gelfMessage(), timestamp: 1_767_603_600_778 })?.extra?.occurredAt,
    1_767_603_600,
  );
  assert.deepEqual([first({ message: "m" })?.message, first({ message: "m" })?.level], ["m", 200]);
  assert.equal(first({ full_message: "f" })?.message, "f");
  assert.equal(first({})?.message, "(empty)");
});

test("bad lines don't affect good ones; a body with only bad lines is refused", () => {
  const { events, rejected } = gelf.decode(
    sent('{"short_message":"a"}\n[]\n{\n{"short_message":"b"}'),
  );
  assert.deepEqual([events.length, rejected.length], [2, 2]);
  for (const body of ["", "x", "[]", "7"])
    assert.throws(() => gelf.decode(sent(body)), { message: "bad_request" }, body);
});

function chunk(id: number, index: number, count: number, text: string): Buffer {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0x1e0f);
  head.writeUInt32BE(id, 2);
  head[10] = index;
  head[11] = count;
  return Buffer.concat([head, Buffer.from(text)]);
}

test("chunks are joined in any order, each once, within five seconds", () => {
  const chunks = createChunks();
  const add = (bytes: Buffer, mono = 0, peer = "a") =>
    chunks.add(bytes, { peer, mono })?.toString() ?? null;
  assert.equal(add(Buffer.from("{}")), "{}");
  assert.equal(add(chunk(1, 0, 1, "alone")), "alone");
  assert.deepEqual(
    [add(chunk(2, 1, 2, "b")), add(chunk(2, 1, 2, "b")), add(chunk(2, 0, 2, "a"))],
    [null, null, "ab"],
  );
  assert.equal(add(chunk(3, 0, 2, "a")), null);
  assert.equal(add(chunk(3, 1, 2, "b"), 0, "another"), null);
  assert.equal(add(chunk(3, 1, 2, "b"), 5001), null);
  assert.equal(add(chunk(4, 0, 2, "a"), 6000), null);
  assert.equal(add(chunk(4, 5, 2, "x"), 6000), null);
  assert.equal(add(chunk(4, 1, 2, "b"), 6000), null);
  for (const bad of [chunk(5, 0, 0, ""), chunk(5, 0, 200, ""), Buffer.from([0x1e, 0x0f, 1])])
    assert.equal(add(bad, 6000), null);
});

test("incomplete messages in memory are bounded", () => {
  const chunks = createChunks();
  const text = "x".repeat(60_000);
  for (let id = 0; id < 2000; id++) {
    chunks.add(chunk(id, 0, 2, text), { peer: "a", mono: 0 });
    assert.ok(chunks.held <= 8 * 1024 * 1024);
  }
  chunks.add(Buffer.from("{}"), { peer: "a", mono: 10_000 });
  assert.equal(chunks.held, 0);
});

test("compressed payloads are decompressed, and bombs refused", () => {
  const text = Buffer.from('{"short_message":"x"}');
  for (const pack of [gzipSync, deflateSync]) {
    assert.deepEqual(inflatedGelf(pack(text)), text);
    assert.equal(inflatedGelf(pack(Buffer.alloc(2_000_000))), null);
    assert.equal(inflatedGelf(pack(text).subarray(0, 12)), null);
  }
});
