import assert from "node:assert/strict";
import { test } from "node:test";
import { mask, secretsOf } from "../../../src/out/outbox/mask.ts";
import fc from "../../support/property.ts";

function masked(text: string, headers: Record<string, string>, body: string | null = null): string {
  return mask(text, secretsOf(headers, body), false);
}

test("a header's value is masked whole, as JSON writes it, and behind its scheme", () => {
  const headers = { Authorization: "Bearer s3cret-token", "X-Odd": 'qu"ote\\d' };
  assert.equal(masked("you sent Bearer s3cret-token!", headers), "you sent [sealed]!");
  assert.equal(masked("bad token s3cret-token", headers), "bad token [sealed]");
  assert.equal(masked('{"x-odd":"qu\\"ote\\\\d"}', headers), '{"x-odd":"[sealed]"}');
});

test("the body is masked whole and value by value, JSON or form", () => {
  const json = '{"auth":{"key":"k-123456"},"pin":987654,"n":5}';
  assert.equal(masked(`got ${json}`, {}, json), "got [sealed]");
  assert.equal(masked("key k-123456 pin 987654 n 5", {}, json), "key [sealed] pin [sealed] n 5");
  assert.equal(masked("bad abc defgh", {}, "user=me&token=abc+defgh"), "bad [sealed]");
});

test("what is too short to be a secret stays", () => {
  assert.deepEqual(secretsOf({ a: "12345", b: "true" }, "{}"), []);
  assert.equal(masked("12345", { a: "12345" }), "12345");
});

test("secrets that overlap or touch leave nothing of either", () => {
  const headers = { a: "abcdefgh", b: "ghijklmn", c: "sealed" };
  assert.equal(masked("<abcdefghijklmn>", headers), "<[sealed]>");
  assert.equal(masked("abcdefgh-ghijklmn", headers), "[sealed]-[sealed]");
  assert.equal(masked("abababab", { a: "ababab" }), "[sealed]");
  assert.equal(masked("was sealed", headers), "was [sealed]");
});

test("a secret that the cut went through is masked to the end", () => {
  const secrets = secretsOf({ a: "s3cret-token" }, null);
  assert.equal(mask("you sent s3cret-to", secrets, true), "you sent [sealed]");
  assert.equal(mask("you sent s3cret-to", secrets, false), "you sent s3cret-to");
  assert.equal(mask("s3cret-token", secrets, true), "[sealed]");
});

test("no secret survives in any text that echoes it", () => {
  // Nothing of the mask itself may look like a secret.
  const secret = fc.stringMatching(/^[A-D0-9]{6,20}$/);
  const around = fc.stringMatching(/^[w-z ]{0,12}$/);
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 5 }),
      around,
      fc.nat(80),
      (all, gap, at) => {
        const headers = Object.fromEntries(all.map((value, i) => [`h${i}`, value]));
        const secrets = secretsOf(headers, null);
        const echo = `${gap}${all.join(gap)}${gap}`;
        for (const text of [mask(echo, secrets, false), mask(echo.slice(0, at), secrets, true)]) {
          assert.doesNotMatch(text, /[A-D0-9]/);
        }
      },
    ),
  );
});
