import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";
import { settle } from "../../support/until.ts";

test("a source that is renamed keeps its token; rules, silences and open alerts of its project follow, and no other's", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const call = async (method: string, path: string, body?: object) => {
    const answer = await box.api(method, path, body);
    assert.ok(answer.status < 300, `${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const token = await box.project("shop");
  await box.project("till");
  for (const project of ["shop", "till"])
    await call("POST", `/v1/projects/${project}/rules`, {
      name: "errors",
      match: { min_level: 400, sources: ["app"] },
      identifier_keys: ["n"],
      fire_after: { count: 2, window_minutes: 60 },
    });
  const before = (await call("GET", "/v1/projects/shop/rules/errors")).updated_at;
  const silence = await call("POST", "/v1/silences", {
    project: "shop",
    reason: "deploy",
    match: { sources: ["app"] },
    ends_at: Math.floor(box.clock.now() / 1000) + 3600,
  });
  const send = async (n: string) => {
    const event = { message: "the till is stuck", level: 400, keys: { n } };
    assert.equal((await box.ingest(token, event)).status, 202);
    await settle(box);
  };
  const alerts = async () => (await call("GET", "/v1/alerts?project=shop")).alerts;
  await send("1");
  await send("1");
  await send("2");
  assert.equal((await alerts()).length, 1);
  await box.clock.turn(5_000);

  const at = "/v1/projects/shop/sources/app/rename";
  assert.deepEqual(await call("POST", at, { name: "web" }), { name: "web" });
  const rule = await call("GET", "/v1/projects/shop/rules/errors");
  assert.deepEqual(rule.match.sources, ["web"]);
  assert.equal(rule.updated_at, before, "that is no change of the rule");
  assert.deepEqual((await call("GET", "/v1/projects/till/rules/errors")).match.sources, ["app"]);
  assert.deepEqual((await call("GET", `/v1/silences/${silence.id}`)).match.sources, ["web"]);
  // What the window had counted counts on, under the new name.
  await send("2");
  const [second, first] = await alerts();
  for (const alert of [first, second]) assert.equal(alert.silenced_by, silence.id);
  const { sources, facts } = await call("GET", "/v1/projects/shop/sources");
  assert.deepEqual([sources[0].name, facts[0].accepted], ["web", 4]);

  await call("POST", "/v1/projects/shop/sources", { name: "cron" });
  const renamed = "/v1/projects/shop/sources/web/rename";
  const taken = await box.api("POST", renamed, { name: "cron" });
  assert.deepEqual([taken.status, taken.body.error.code], [409, "name_taken"]);
  assert.equal((await box.api("POST", renamed, { name: "a/b" })).status, 400);
  assert.equal((await box.api("POST", at, { name: "x" })).status, 404);
  assert.deepEqual(await call("POST", renamed, { name: "web" }), { name: "web" });
  const metrics = await (
    await fetch(`${box.url}/metrics`, { headers: { authorization: `Bearer ${box.owner.key}` } })
  ).text();
  assert.match(metrics, /box_ingest_unmatched_total\{project="shop",source="web"\}/);
});
