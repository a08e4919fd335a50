import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Adapter, type InRequest, UnreadableBody } from "../../../src/in/adapters/adapter.ts";
import { adapters, findAdapter } from "../../../src/in/adapters/list.ts";
import { mutate } from "../../network/mutate.ts";
import { seed } from "../../support/seed.ts";
import { seeded } from "../../support/seeded.ts";
import { decodesCleanly, sent } from "./clean.ts";
import { samples } from "./samples.ts";

const FLIPS = 200;
const MUTANTS = 200;

/** Each sample whole, doubled, cut at every 7th byte, with one bit flipped, and changed at random. */
function* bent(request: InRequest): Generator<Buffer> {
  const { body } = request;
  const random = seeded(seed);
  yield Buffer.concat([body, body]);
  for (let at = 0; at < body.length; at += 7) yield body.subarray(0, at);
  for (let i = 0; i < FLIPS && body.length > 0; i++) {
    const flipped = Buffer.from(body);
    const at = Math.floor(random() * body.length);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << Math.floor(random() * 8));
    yield flipped;
  }
  for (let i = 0; i < MUTANTS; i++) yield mutate(random, body, Buffer.concat([body, body]));
}

function holds(adapter: Adapter, request: InRequest): void {
  try {
    decodesCleanly(adapter, request);
  } catch (error) {
    const { path, body } = request;
    const input = body.toString("base64").slice(0, 2000);
    throw new Error(`${path} ${input} (seed ${seed})`, { cause: error });
  }
}

describe("what senders send, broken", () => {
  for (const adapter of adapters) {
    const known = samples[adapter.kind] ?? [];
    test(`${adapter.kind}: as it should be, something is taken`, () => {
      assert.ok(
        known.length > 0,
        `test/in/adapters/samples.ts has nothing of kind ${adapter.kind}`,
      );
      for (const request of known) assert.notEqual(decodesCleanly(adapter, request), null);
    });
    test(`${adapter.kind}: cut, doubled and bent, it is refused or taken, and nothing else`, () => {
      for (const request of known)
        for (const body of bent(request)) holds(adapter, { ...request, body });
    });
    test(`${adapter.kind}: at other paths and with other methods too`, () => {
      for (const request of known)
        for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
          for (const path of ["", "/", "/..", "//", `${request.path}/`, `${request.path}/%2e%2e/x`])
            holds(adapter, { ...request, method, path });
    });
  }
});

test("half a surrogate pair in a text that becomes an address", () => {
  const adapter = findAdapter("alertmanager");
  assert.ok(adapter !== null);
  const group = '{"receiver":"\\ud800","externalURL":"http://am","alerts":[{"labels":{"a":"b"}}]}';
  const [event] = decodesCleanly(adapter, sent(group))?.events ?? [];
  assert.equal(event?.extra?.links[0]?.href, "http://am/#/alerts?receiver=%EF%BF%BD");
});

/** The JSON with `by` in place of each of its values, one after the other. */
function* replacing(value: unknown, by: unknown): Generator<unknown> {
  yield by;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value))
    for (const changed of replacing(inner, by))
      yield Array.isArray(value)
        ? value.map((item, i) => (String(i) === name ? changed : item))
        : { ...value, [name]: changed };
}

describe("an object that can't be made a text of, anywhere", () => {
  const odd = { toString: null, valueOf: 1, constructor: {} };
  for (const adapter of adapters)
    test(adapter.kind, async () => {
      for (const request of samples[adapter.kind] ?? []) {
        const text = request.body.toString();
        if (!/^\s*[{[]/.test(text) || text.includes("\n{")) continue;
        for (const changed of replacing(JSON.parse(text), odd)) {
          const sending = { ...request, body: Buffer.from(JSON.stringify(changed)) };
          holds(adapter, sending);
          await adapter
            .believe?.(sending, async () => ({ fault: "no way out" }))
            .catch((error) => assert.ok(error instanceof UnreadableBody, String(error)));
        }
      }
    });

  test("half a surrogate pair in a value that a mapping's condition reads", () => {
    const hook = findAdapter("hook");
    assert.ok(hook !== null);
    const when = [{ at: "/a", do: ["kv"], in: ["x"] }];
    for (const a of [odd, [{ name: "b", value: 1 }], [odd], null])
      assert.deepEqual(
        hook.decode(sent(JSON.stringify({ a }), { options: { mapping: { when } } })).events,
        [],
      );
  });
});
