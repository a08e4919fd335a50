import assert from "node:assert/strict";
import { test } from "node:test";
import { testBox } from "../../support/box.ts";

const RULES = Array.from({ length: 10 }, (_, i) => `up${i}`);

test("ten rules of a thousand standing alerts each hold alerts below, and hold up no storm of them", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("p");
  const rule = (name: string, more: object) =>
    box.api("POST", "/v1/projects/p/rules", { name, identifier_keys: ["n"], max_open: 0, ...more });
  for (const name of RULES) await rule(name, { match: { tags: ["up"] } });
  const silenced_by = RULES.map((name) => ({ rule: name, equal: ["n"] }));
  await rule("below", { match: { tags: ["below"] }, silenced_by });
  await box.ingest(token, { message: "it is down", tags: ["up"], keys: { n: "0" } });
  const { store } = box.tenant;
  store.write((tx) => {
    const columns = tx
      .sql<[], string>("SELECT name FROM pragma_table_info('alerts')")
      .pluck()
      .all();
    const others = columns.filter((name) => !["id", "alert_key", "identifiers"].includes(name));
    const copy = `INSERT INTO alerts (alert_key, identifiers, ${others})
      SELECT alert_key || ?, json_object('n', ?), ${others} FROM alerts WHERE id <= 10`;
    for (let n = 1; n < 1000; n++) tx.sql<[string, string]>(copy).run(`-${n}`, `${n}`);
  });
  const events = Array.from({ length: 300 }, (_, i) =>
    JSON.stringify({ message: "it is slow", tags: ["below"], keys: { n: `${i + 900}` } }),
  );
  const before = process.cpuUsage();
  const { status } = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    body: events.join("\n"),
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
  });
  const { user, system } = process.cpuUsage(before);
  assert.equal(status, 202);
  assert.ok(user + system < 2_500_000, `${(user + system) / 1000} ms`);
  const held = store.sql<[], [by: string, n: number]>(
    "SELECT silenced_by IS NOT NULL, count(*) FROM alerts WHERE rule = 'below' GROUP BY 1",
  );
  assert.deepEqual(held.raw().all(), [
    [0, 200],
    [1, 100],
  ]);
  const [first] = (await box.api("GET", "/v1/alerts?limit=500&rule=below")).body.alerts.slice(-1);
  assert.match(first.silenced_by, /^alert:\d+$/);
});
