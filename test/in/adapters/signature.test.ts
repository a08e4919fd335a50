import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type TestBox, testBox } from "../../support/box.ts";

const SECRET = "a secret of two";
const hmac = (text: string, secret = SECRET) =>
  createHmac("sha256", secret).update(text).digest("hex");

async function signedSource(t: TestContext, kind: string) {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  const sources = "/v1/projects/shop/sources";
  const made = await box.api("POST", sources, { name: "signer", kind });
  const send = async (body: string, headers: Record<string, string>) => {
    const answer = await fetch(`${box.url}/v1/in/${kind}/${made.body.short_token}`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });
    await answer.text();
    return answer.status;
  };
  return { box, send, secret: `${sources}/signer/secret` };
}

const accepted = async (box: TestBox) =>
  (await box.api("GET", "/v1/projects/shop/sources/signer/facts")).body.accepted;

test("a hook's source with a secret accepts only GitHub's signature with it", async (t) => {
  const { box, send, secret } = await signedSource(t, "hook");
  const body = JSON.stringify({ message: "build failed", level: "error" });
  const name = "x-hub-signature-256";
  assert.equal(await send(body, {}), 200);
  const set = await box.api("PUT", secret, { secret: SECRET });
  assert.deepEqual([set.status, set.body], [200, { name: "signer", signed: true }]);
  assert.equal(await send(body, { [name]: `sha256=${hmac(body)}` }), 200);
  for (const wrong of [
    "",
    "sha256=",
    hmac(body),
    `sha256=${hmac(body).toUpperCase()}`,
    `sha256=${hmac(`${body} `)}`,
    `sha256=${hmac(body, "another secret")}`,
  ])
    assert.equal(await send(body, { [name]: wrong }), 401, wrong);
  assert.equal(await send(body, {}), 401);
  assert.equal(await accepted(box), 2);
  const listed = (await box.api("GET", "/v1/projects/shop/sources")).body;
  assert.equal(JSON.stringify(listed).includes(SECRET), false);
  assert.equal(listed.sources.find((one: { name: string }) => one.name === "signer").signed, true);

  // The secret is sealed, survives a restart, and a manager can remove it.
  const stored = box.tenant.store.sql("SELECT sealed_secret FROM sources WHERE name = 'signer'");
  assert.match(String(stored.pluck().get()), /^v1\./);
  await box.restart();
  assert.equal(await send(body, {}), 401);
  assert.equal((await box.api("DELETE", secret)).body.signed, false);
  assert.equal(await send(body, {}), 200);
});

test("Grafana's signature is checked with and without its time, which must be about now", async (t) => {
  const { box, send, secret } = await signedSource(t, "grafana");
  await box.api("PUT", secret, { secret: SECRET });
  const alert = { status: "firing", labels: { alertname: "Down" }, annotations: {} };
  const body = JSON.stringify({ version: "1", status: "firing", alerts: [alert] });
  const name = "x-grafana-alerting-signature";
  const time = `${name}-timestamp`;
  const now = Math.floor(box.clock.now() / 1000);
  const at = (seconds: number) => ({ [name]: hmac(`${seconds}:${body}`), [time]: `${seconds}` });
  assert.equal(await send(body, { [name]: hmac(body) }), 200);
  assert.equal(await send(body, at(now)), 200);
  assert.equal(await send(body, at(now - 299)), 200);
  for (const bad of [at(now - 301), at(now + 301), { ...at(now), [time]: `${now - 1}` }, {}])
    assert.equal(await send(body, bad as Record<string, string>), 401);
});

test("a kind without signatures accepts no secret, and only managers set one", async (t) => {
  const { box, secret } = await signedSource(t, "loki");
  const refused = await box.api("PUT", secret, { secret: SECRET });
  assert.deepEqual([refused.status, refused.body.error.details[0].field], [400, "/secret"]);
  const { key } = box.person("member");
  assert.equal((await box.api("PUT", secret, { secret: SECRET }, key)).status, 403);
});
