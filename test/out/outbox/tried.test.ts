import assert from "node:assert/strict";
import test from "node:test";
import type { EgressRequest, EgressResult } from "../../../src/ground/kit/exchange.ts";
import { keptRequest, watchExchange } from "../../../src/out/outbox/tried.ts";
import { handClock } from "../../support/clock.ts";

/** What a delivery's row keeps of a request: of the usual one nothing, of any other all but what identifies somebody. */

const event = { eventId: "evt_1", signedAt: 1_800_000_000, body: '{"event":"alert.opened"}' };
const usual: EgressRequest = {
  method: "POST",
  url: "https://hooks.example.com/",
  headers: {
    "Content-Type": "application/json",
    "X-Service-Timestamp": "1800000000",
    "webhook-id": "evt_1",
    "webhook-timestamp": "1800000000",
    "X-Service-Signature": "sha256=secret",
    "webhook-signature": "v1,secret",
  },
  body: event.body,
};

async function kept(change: Partial<EgressRequest>): Promise<string> {
  const answer: EgressResult = {
    error: null,
    status: 204,
    headers: {},
    body: "",
    truncated: false,
    sent: true,
    durationMs: 1,
  };
  const egress = { send: async () => answer };
  const watch = watchExchange(egress as never, handClock());
  await watch.egress.send({ ...usual, ...change });
  const { request } = watch.tried(event);
  assert.ok(request !== undefined);
  return keptRequest(request, event, true);
}

test("of the usual request nothing is kept: its event has it", async () => {
  assert.equal(await kept({}), "");
});

const { "webhook-id": _, ...fewer } = usual.headers ?? {};

for (const [what, change] of Object.entries({
  "another method": { method: "PUT" },
  "another body": { body: '{"event":"alert.opened","to":"you"}' },
  "no body": { body: undefined },
  "one header more": { headers: { ...usual.headers, "X-Api-Key": "secret" } },
  "one header less": { headers: fewer },
  "another header in place of one": { headers: { ...fewer, "X-Api-Key": "secret" } },
  "another value": { headers: { ...usual.headers, "Content-Type": "text/plain" } },
  "another event's id": { headers: { ...usual.headers, "webhook-id": "evt_2" } },
}))
  test(`with ${what} it isn't the usual one, and no secret is kept`, async () => {
    const text = await kept(change as Partial<EgressRequest>);
    assert.notEqual(text, "");
    assert.ok(!text.includes("secret"), text);
  });
