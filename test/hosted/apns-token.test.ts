import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { test } from "node:test";
import { providerToken, readApnsKey } from "../../src/hosted/apns-token.ts";
import { handClock } from "../support/clock.ts";

const minutes = 60_000;
const pair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const pem = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

function bench() {
  const clock = handClock();
  const key = createPrivateKey(pem);
  const token = providerToken({ key, keyId: "KEY1234567", teamId: "TEAM123456", clock });
  return { clock, token };
}

test("the token is an ES256 JWT with key id, team id and the time it was made", () => {
  const { clock, token } = bench();
  const [header = "", claims = "", signature = ""] = token.current().split(".");
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
  assert.deepEqual(read(header), { alg: "ES256", kid: "KEY1234567" });
  assert.deepEqual(read(claims), { iss: "TEAM123456", iat: clock.now() / 1000 });
  const raw = Buffer.from(signature, "base64url");
  assert.equal(raw.length, 64);
  const key = createPublicKey(pair.publicKey.export({ type: "spki", format: "pem" }));
  const signed = Buffer.from(`${header}.${claims}`);
  assert.ok(verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, raw));
});

test("in four hours of use it is renewed between 20 and 60 minutes, at most three times an hour", async () => {
  const { clock, token } = bench();
  const seen = new Map<string, number>();
  for (let minute = 0; minute < 240; minute++) {
    const jwt = token.current();
    if (!seen.has(jwt)) seen.set(jwt, minute);
    assert.ok(minute - (seen.get(jwt) ?? 0) < 60);
    await clock.turn(minutes);
  }
  const made = [...seen.values()];
  for (const [index, at] of made.entries()) {
    if (index > 0) assert.ok(at - (made[index - 1] ?? 0) >= 20);
  }
  assert.equal(made.length, 6);
});

test("a refusal renews it, but not before 20 minutes, and once for all who hold the old one", async () => {
  const { clock, token } = bench();
  const first = token.current();
  await clock.turn(20 * minutes - 1);
  assert.equal(token.refused(first), false);
  assert.equal(token.current(), first);
  await clock.turn(1);
  assert.equal(token.refused(first), true);
  const second = token.current();
  assert.notEqual(second, first);
  assert.equal(token.refused(first), true);
  assert.equal(token.current(), second);
});

test("a wall clock that moves an hour on makes a new one; one set back keeps its hour", async () => {
  const { clock, token } = bench();
  const first = token.current();
  clock.setWall(clock.now() + 60 * minutes);
  const second = token.current();
  assert.notEqual(second, first);
  clock.setWall(clock.now() - 60 * minutes);
  await clock.turn(44 * minutes);
  assert.equal(token.current(), second);
  await clock.turn(minutes);
  assert.notEqual(token.current(), second);
});

test("only a P-256 private key in PEM is a .p8 key", () => {
  assert.ok(readApnsKey(pem));
  const other = generateKeyPairSync("ec", { namedCurve: "secp384r1" }).privateKey;
  const ed = generateKeyPairSync("ed25519").privateKey;
  const bad = [other, ed].map((key) => key.export({ type: "pkcs8", format: "pem" }).toString());
  const open = pair.publicKey.export({ type: "spki", format: "pem" }).toString();
  for (const text of [...bad, open, "", "no key", pem.slice(0, 80)]) {
    assert.equal(readApnsKey(text), null);
  }
});
