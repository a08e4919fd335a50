import assert from "node:assert/strict";
import { test } from "node:test";
import { codePoints, cut } from "../../../src/ground/kit/text.ts";
import {
  buildEventBody,
  type EventBody,
  type EventInput,
  eventKinds,
} from "../../../src/out/outbox/event.ts";
import fc, { anyCharacter } from "../../support/property.ts";

const MOST_BYTES = 32 * 1024;

const alert: EventInput["alert"] = {
  project: "shop",
  rule: "Payments failing",
  state: "open",
  template: "Payment <*> failed for <*>",
  level: 400,
  count: 12,
  first_seen: 1_767_603_600,
  last_seen: 1_767_603_660,
  last_message: "Payment 42 failed for bob",
  identifiers: { host: "web-1" },
  investigate: false,
  escalation_level: 0,
  page_accounts: [],
};

const input: EventInput = {
  event: "alert.opened",
  event_id: "evt_0123456789abcdef",
  alert_id: "7",
  tenant_id: "0123456789abcdef",
  timestamp: 1_767_603_661,
  alert,
};

function bodyOf(changes: Partial<EventInput["alert"]>): EventBody & { bytes: number } {
  const text = buildEventBody({ ...input, alert: { ...alert, ...changes } });
  return { ...JSON.parse(text), bytes: Buffer.byteLength(text) };
}

test("the body holds every field of the interface, in a fixed order", () => {
  assert.equal(
    buildEventBody(input),
    '{"event":"alert.opened","event_id":"evt_0123456789abcdef","alert_id":"7","project":"shop",' +
      '"rule":"Payments failing","state":"open","template":"Payment <*> failed for <*>","level":400,' +
      '"count":12,"first_seen":1767603600,"last_seen":1767603660,' +
      '"last_message":"Payment 42 failed for bob","identifiers":{"host":"web-1"},"investigate":false,' +
      '"escalation_level":0,"page_accounts":[],"timestamp":1767603661,"tenant_id":"0123456789abcdef"}',
  );
  const tested = JSON.parse(buildEventBody({ ...input, alert_id: "test", test: true }));
  assert.deepEqual([tested.test, tested.alert_id], [true, "test"]);
});

test("a message of 4,096 characters is whole, a longer one is cut and says so", () => {
  const whole = bodyOf({ last_message: "é".repeat(4_096) });
  assert.equal(whole.last_message.length, 4_096);
  assert.equal(whole.truncated, undefined);
  const long = bodyOf({ last_message: `${"x".repeat(4_095)}💥!` });
  assert.equal(long.last_message, `${"x".repeat(4_095)}💥`);
  assert.equal(long.truncated, true);
});

test("template and identifier values give way before the message does", () => {
  const body = bodyOf({
    last_message: "m".repeat(4_096),
    template: "t".repeat(65_536),
    identifiers: Object.fromEntries(
      Array.from({ length: 16 }, (_, i) => [`key ${i}`, "v".repeat(4_096)]),
    ),
  });
  assert.ok(body.bytes <= MOST_BYTES);
  assert.equal(body.truncated, true);
  assert.equal(body.last_message.length, 4_096);
  assert.equal(Object.keys(body.identifiers).length, 16);
  assert.ok(body.template.length >= 256);
});

test("a template alone too long leaves identifiers as they are", () => {
  const identifiers = { host: "h".repeat(900) };
  const body = bodyOf({ template: "t".repeat(65_536), identifiers });
  assert.deepEqual(body.identifiers, identifiers);
  assert.ok(body.template.length >= 1_024);
});

/** Text as an event may hold it, up to the longest and the costliest to write as JSON. */
function text(most: number): fc.Arbitrary<string> {
  const unit = fc.constantFrom("a", '"', "\\", "\u0001", "é", "日", "💥", "</", " ");
  return fc
    .tuple(unit, fc.string({ unit: anyCharacter, maxLength: 20 }), fc.nat(most))
    .map(([filler, start, length]) => cut((start + filler.repeat(length)).toWellFormed(), most));
}

const anyAlert: fc.Arbitrary<EventInput["alert"]> = fc.record({
  project: text(128),
  rule: text(200),
  state: fc.constantFrom("open", "acknowledged", "resolved"),
  template: text(65_536),
  level: fc.nat(),
  count: fc.nat(),
  first_seen: fc.nat(),
  last_seen: fc.nat(),
  last_message: text(65_536),
  identifiers: fc
    .array(fc.tuple(text(256), text(4_096)), { maxLength: 200 })
    .map((pairs) => Object.fromEntries(pairs)),
  investigate: fc.boolean(),
  escalation_level: fc.nat(10),
  page_accounts: fc.array(fc.constant("0123456789abcdef"), { maxLength: 400 }),
});

test("any legal alert fits, says when it was cut, and keeps what it means", () => {
  fc.assert(
    fc.property(anyAlert, fc.constantFrom(...eventKinds), (any, event) => {
      const json = buildEventBody({ ...input, event, alert: any });
      assert.ok(Buffer.byteLength(json) <= MOST_BYTES);
      const body = JSON.parse(json) as EventBody;
      const { event_id, alert_id, tenant_id, timestamp } = input;
      const { template, last_message, identifiers, ...rest } = any;
      const cutShort =
        body.template !== template ||
        body.last_message !== last_message ||
        JSON.stringify(body.identifiers) !== JSON.stringify(identifiers);
      assert.equal(body.truncated, cutShort ? true : undefined);
      for (const [name, value] of Object.entries({
        ...rest,
        event,
        event_id,
        alert_id,
        tenant_id,
        timestamp,
      })) {
        assert.deepEqual(body[name as keyof EventBody], value, name);
      }
      assert.ok(template.startsWith(body.template));
      assert.ok(last_message.startsWith(body.last_message));
      assert.ok(codePoints(body.last_message) >= Math.min(codePoints(last_message), 256));
      for (const [key, value] of Object.entries(body.identifiers)) {
        assert.ok(identifiers[key]?.startsWith(value));
      }
    }),
    { numRuns: 150 },
  );
});

test("what fits whole is sent whole", () => {
  fc.assert(
    fc.property(anyAlert, (any) => {
      const small = {
        ...any,
        template: cut(any.template, 500),
        last_message: cut(any.last_message, 500),
      };
      const alert = { ...small, identifiers: {} };
      const body = JSON.parse(buildEventBody({ ...input, alert })) as EventBody;
      assert.equal(body.last_message, alert.last_message);
      assert.equal(body.truncated, undefined);
    }),
    { numRuns: 50 },
  );
});
