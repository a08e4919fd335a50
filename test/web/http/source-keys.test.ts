import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findToken } from "../../../src/web/http/inbound/token.ts";
import { type TestBox, testBox } from "../../support/box.ts";

let box: TestBox;
before(async () => {
  box = await testBox({ adaptersListen: "127.0.0.1:0" });
  await box.project("p");
  await box.api("POST", "/v1/projects/p/rules", { name: "any" });
  for (const kind of ["oncall", "opsgenie", "pagerduty", "hook", "heartbeats"])
    await box.api("POST", "/v1/projects/p/sources", { name: kind, kind });
});
after(() => box.stop());

const keysOf = (source: string) => `/v1/projects/p/sources/${source}/keys`;
const add = (source: string, key: unknown) => box.api("POST", keysOf(source), { key });

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const sent = { method: "POST", body: JSON.stringify(body), headers };
  const answer = await fetch(box.adaptersUrl + path, sent);
  await answer.arrayBuffer();
  return answer.status;
}

/** Each sender with the key that it has had for years. */
const ONCALL = "Zb3kQ7xPq2mN8rT5vW1yL4dFa";
const OPSGENIE = "EB243592-FAA2-4BA2-A551-1AFDF565C889";
const PAGERDUTY = "R0ABCDEFGHIJKLMNOPQRSTUVWXYZ0123";
const senders: readonly [string, string, () => Promise<number>][] = [
  ["oncall", ONCALL, () => send(`/integrations/v1/formatted_webhook/${ONCALL}/`, { title: "a" })],
  [
    "opsgenie",
    OPSGENIE,
    () =>
      send("/v2/alerts", { message: "a" }, { authorization: `GenieKey ${OPSGENIE.toLowerCase()}` }),
  ],
  [
    "pagerduty",
    PAGERDUTY,
    () =>
      send("/v2/enqueue", {
        routing_key: PAGERDUTY,
        event_action: "trigger",
        payload: { summary: "a", source: "s", severity: "error" },
      }),
  ],
  ["hook", "hook-key-of-twenty-plus", () => send("/v1/in/hook?token=hook-key-of-twenty-plus", {})],
];

describe("keys that senders have of an earlier tool", () => {
  test("open the source that they were given to, until they are taken away", async () => {
    for (const [source, key, call] of senders) {
      assert.notEqual(await call(), 200, source);
      const added = await add(source, key);
      assert.equal(added.status, 201, source);
      assert.ok([200, 202].includes(await call()), source);
      const listed = (await box.api("GET", keysOf(source))).body.keys;
      assert.deepEqual(listed, [added.body], "and nobody reads them again");
    }
    await box.restart();
    for (const [source, , call] of senders) assert.ok([200, 202].includes(await call()), source);
    const rotated = await box.api("POST", "/v1/projects/p/sources/oncall/rotate-token");
    assert.equal(rotated.status, 200);
    for (const [source, , call] of senders) {
      assert.ok([200, 202].includes(await call()), "a new token takes none of them away");
      const [{ id }] = (await box.api("GET", keysOf(source))).body.keys;
      assert.equal((await box.api("DELETE", `${keysOf(source)}/${id}`)).status, 200);
      assert.notEqual(Math.floor((await call()) / 100), 2, source);
      assert.equal((await box.api("DELETE", `${keysOf(source)}/${id}`)).status, 404);
    }
  });

  test("open no other kind, no other source's is taken twice, and a deleted source's is free", async () => {
    assert.equal((await add("hook", ONCALL)).status, 201);
    assert.equal(await senders[0]?.[2](), 401);
    assert.equal((await add("oncall", ONCALL)).body.error.code, "name_taken");
    await box.api("DELETE", "/v1/projects/p/sources/hook");
    assert.equal((await add("oncall", ONCALL)).status, 201);
    assert.equal(await senders[0]?.[2](), 200);
    const made = await box.api("POST", "/v1/projects/p/sources", { name: "hook", kind: "hook" });
    const { short_token: short } = made.body;
    assert.equal((await add("oncall", short)).body.error.code, "name_taken");
  });

  test("what is no such key, and sources that take none, are refused", async () => {
    for (const key of ["short", "x".repeat(65), "with_an_underscore_in_it", "", 7, null])
      assert.equal((await add("opsgenie", key)).status, 400, String(key));
    for (const source of ["app", "heartbeats"])
      assert.equal((await add(source, ONCALL)).body.error.details[0].field, "/key");
    assert.equal((await add("nothing", ONCALL)).status, 404);
    for (let n = 0; n < 50; n++) await add("opsgenie", `key-number-of-many-${n}`);
    assert.equal((await add("opsgenie", "one-key-that-is-too-many")).body.error.code, "too_many");
  });

  test("a token counts before what only looks like a key", () => {
    const token = "0".repeat(32);
    const at = (rest: string, query = "") =>
      findToken({ rest, header: () => undefined, query: new URLSearchParams(query) });
    assert.deepEqual(at(`/${token}/filebeat-8-11-2024-01-01/_bulk`).keys, []);
    assert.deepEqual(at(`/filebeat-8-11-2024-01-01/_bulk?`, `token=${token}`).keys, []);
    assert.deepEqual(at("/filebeat-8-11-2024-01-01/_bulk").keys, [
      { key: "filebeat-8-11-2024-01-01", path: "/_bulk" },
    ]);
    assert.deepEqual(at("/v2/enqueue", `key=${ONCALL}`).keys, [
      { key: ONCALL, path: "/v2/enqueue" },
    ]);
  });
});
