import assert from "node:assert/strict";
import { createPrivateKey, createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { type TestContext, test } from "node:test";
import { providerToken, readApnsKey } from "../../src/hosted/apns-token.ts";
import { hostedBench } from "../support/hosted.ts";

const minutes = 60_000;
const pair = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
const pem = pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString();

async function bench(t: TestContext) {
  const { clock, registry } = hostedBench(t);
  const key = createPrivateKey(pem);
  const signer = { keyId: "KEY1234567", teamId: "TEAM123456" };
  const place = { topic: "app", endpoint: "https://localhost", ca: null };
  const set = () => registry.apns.set({ ...signer, ...place, key: pem });
  await set();
  const node = (version = 1) =>
    providerToken({ ...signer, key, clock, version, tokens: registry.apns });
  return { clock, registry, set, node, token: node() };
}

test("the token is an ES256 JWT with key id, team id and the time it was made", async (t) => {
  const { clock, token } = await bench(t);
  const [header = "", claims = "", signature = ""] = (await token.current()).split(".");
  const read = (part: string): unknown => JSON.parse(Buffer.from(part, "base64url").toString());
  assert.deepEqual(read(header), { alg: "ES256", kid: "KEY1234567" });
  assert.deepEqual(read(claims), { iss: "TEAM123456", iat: clock.now() / 1000 });
  const raw = Buffer.from(signature, "base64url");
  assert.equal(raw.length, 64);
  const key = createPublicKey(pair.publicKey.export({ type: "spki", format: "pem" }));
  const signed = Buffer.from(`${header}.${claims}`);
  assert.ok(verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, raw));
});

test("in four hours of use the provider token is renewed after 20 to 60 minutes, at most three times an hour", async (t) => {
  const { clock, token } = await bench(t);
  const seen = new Map<string, number>();
  for (let minute = 0; minute < 240; minute++) {
    const jwt = await token.current();
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

test("a refusal renews the provider token, but not before 20 minutes, and once for all that have the old one", async (t) => {
  const { clock, token } = await bench(t);
  const first = await token.current();
  await clock.turn(20 * minutes - 1);
  assert.equal(await token.refused(first), false);
  assert.equal(await token.current(), first);
  await clock.turn(1);
  assert.equal(await token.refused(first), true);
  const second = await token.current();
  assert.notEqual(second, first);
  assert.equal(await token.refused(first), true);
  assert.equal(await token.current(), second);
});

test("a wall clock set an hour ahead makes a new provider token; one set back keeps the old one for its hour", async (t) => {
  const { clock, token } = await bench(t);
  const first = await token.current();
  clock.setWall(clock.now() + 60 * minutes);
  const second = await token.current();
  assert.notEqual(second, first);
  clock.setWall(clock.now() - 60 * minutes);
  await clock.turn(44 * minutes);
  assert.equal(await token.current(), second);
  await clock.turn(minutes);
  assert.notEqual(token.current(), second);
});

test("nodes and restarts share one provider token, and one of several that replace it succeeds", async (t) => {
  const { clock, node } = await bench(t);
  const nodes = [node(), node(), node()];
  const all = async () => new Set(await Promise.all(nodes.map((one) => one.current())));
  const [first = "", ...others] = await all();
  assert.deepEqual(others, []);
  await clock.turn(20 * minutes);
  const late = node();
  assert.equal(await late.current(), first);
  const refused = await Promise.all(nodes.map((one) => one.refused(first)));
  assert.deepEqual(refused, [true, true, true]);
  const [second = "", ...more] = await all();
  assert.deepEqual(more, []);
  assert.notEqual(second, first);
  // A later node with the refused token finds the new one, and replaces nothing.
  assert.equal(await late.refused(first), true);
  assert.equal(await late.current(), second);
  await clock.turn(45 * minutes);
  assert.equal((await all()).size, 1);
  assert.ok(!(await all()).has(second));
});

test("new APNs settings delete the provider token, and a node with the old settings stores none", async (t) => {
  const { clock, set, node, token, registry } = await bench(t);
  const first = await token.current();
  await set();
  assert.equal((await registry.apns.token()).token, null);
  await clock.turn(45 * minutes);
  // A node keeps its token until it learns of the new settings.
  assert.equal(await token.current(), first);
  await clock.turn(14 * minutes);
  await assert.rejects(async () => token.current(), /other settings/);
  assert.equal((await registry.apns.token()).token, null);
  assert.notEqual(await node(2).current(), first);
});

test("while the registry doesn't answer a provider token is used for its hour", async (t) => {
  const { clock, token, registry } = await bench(t);
  const first = await token.current();
  registry.close();
  await clock.turn(57 * minutes);
  assert.equal(await token.current(), first);
  await clock.turn(2 * minutes);
  await assert.rejects(async () => token.current());
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
