import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { othersFirst } from "../../../src/ground/kit/slices.ts";
import type { InRequest } from "../../../src/in/adapters/adapter.ts";
import { findAdapter } from "../../../src/in/adapters/list.ts";
import { createDecoder } from "../../../src/web/http/inbound/decoder.ts";
import { sent } from "../../in/adapters/clean.ts";
import { handClock } from "../../support/clock.ts";

/** Lines for Loki's door: 3 MB, which the thread reads. */
function reader(t: TestContext) {
  const clock = handClock();
  const decoder = createDecoder(clock);
  t.after(() => decoder.close());
  const adapter = findAdapter("loki");
  assert.ok(adapter);
  const long = "x".repeat(300);
  const values = Array.from({ length: 9_000 }, (_, i) => ["1767603600000000000", `${i} ${long}`]);
  const streams = [{ stream: { app: "a" }, values }];
  const body = Buffer.from(JSON.stringify({ streams }));
  const read = async (owner: string) => {
    // The thread takes its bytes.
    const request: InRequest = sent(Buffer.from(body), { path: "/loki/api/v1/push" });
    const headers = { "content-type": "application/json" };
    const decoding = await decoder.decode(adapter, { request, headers }, owner);
    decoding.close();
    return decoding.events;
  };
  return { clock, read };
}

test("a long body that holds up another sender's for two seconds is to come again, and the other is read", async (t) => {
  const { clock, read } = reader(t);
  const [dear, other] = [read("dear"), read("other")];
  const refused = assert.rejects(dear, ({ refusal }) => refusal.why === "unavailable");
  await othersFirst();
  await clock.turn(2_000);
  await refused;
  assert.ok((await other) > 0);
});

test("a long body takes its time where nobody else waits, and behind its own sender's", async (t) => {
  const { clock, read } = reader(t);
  const both = Promise.all([read("one"), read("one")]);
  await othersFirst();
  await clock.turn(5_000);
  const [first, second] = await both;
  assert.ok(first > 0);
  assert.equal(first, second);
});

test("a long body that was cut off has twice as long at its next turn, up to eight seconds, and is read", async (t) => {
  const { clock, read } = reader(t);
  const cutOff = async (ms: number) => {
    const [dear, other] = [read("dear"), read("other")];
    const refused = assert.rejects(dear, ({ refusal }) => refusal.why === "unavailable");
    await othersFirst();
    await clock.turn(ms);
    await refused;
    assert.ok((await other) > 0);
  };
  for (const ms of [2_000, 4_000, 8_000, 8_000]) await cutOff(ms);
  const [dear, other] = [read("dear"), read("other")];
  await othersFirst();
  await clock.turn(7_999);
  assert.ok((await dear) > 0);
  assert.ok((await other) > 0);
  await cutOff(2_000);
});
