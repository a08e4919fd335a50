import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Hono } from "hono";
import { sha256 } from "../../../src/ground/kit/ids.ts";
import { createBodies, NoCapacity } from "../../../src/web/http/inbound/bodies.ts";
import { BadEncoding, TooLarge } from "../../../src/web/http/inbound/inflate.ts";
import { type OpenBody, openBody } from "../../../src/web/http/inbound/take.ts";

const KIB = 1024;
const caps = { sent: 512 * KIB, inflated: 640 * KIB };

/** Text that packing halves at most. */
const text = (bytes: number) =>
  Buffer.from(Array.from({ length: bytes / 64 }, (_, i) => sha256(String(i))).join(""));

/** Opens bodies as a request's, for an owner. */
function opener(bodies = createBodies({ all: 1024 * KIB, each: 900 * KIB })) {
  return async (body: Buffer, owner: string): Promise<OpenBody> => {
    let opened: Promise<OpenBody> | null = null;
    const app = new Hono().post("/", async (c) => {
      opened = openBody(c as unknown as Parameters<typeof openBody>[0], { bodies, owner, caps });
      await opened.catch(() => {});
      return c.body(null);
    });
    await app.request("/", { method: "POST", headers: { "content-encoding": "gzip" }, body });
    assert.ok(opened);
    return opened;
  };
}

test("of bodies that are in memory at once also what is inflated is counted", async () => {
  const open = opener();
  const packed = gzipSync(text(500 * KIB));
  assert.ok(packed.length < 300 * KIB);
  const first = await open(packed, "a");
  await assert.rejects(open(packed, "b"), NoCapacity);
  first.release();
  const second = await open(packed, "b");
  assert.equal(second.whole.length, 500 * KIB);
  await assert.rejects(open(packed, "b"), NoCapacity);
  second.release();
});

test("a body that is refused holds nothing", async () => {
  const open = opener(createBodies({ all: 1200 * KIB, each: 1200 * KIB }));
  for (let i = 0; i < 5; i++) {
    await assert.rejects(open(gzipSync(text(700 * KIB)), "a"), TooLarge);
    await assert.rejects(open(gzipSync(Buffer.alloc(600 * KIB)), "a"), TooLarge);
    const packed = gzipSync(text(500 * KIB));
    await assert.rejects(open(packed.subarray(0, -20), "a"), BadEncoding);
    await assert.rejects(open(Buffer.from("no gzip"), "a"), BadEncoding);
  }
  (await open(gzipSync(text(500 * KIB)), "a")).release();
});
