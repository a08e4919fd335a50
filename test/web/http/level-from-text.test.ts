import assert from "node:assert/strict";
import test from "node:test";
import { testBox } from "../../support/box.ts";

test("an event without a level has the one that its message begins with, where its source is set so", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  await box.project("shop");
  await box.api("POST", "/v1/projects/shop/rules", { name: "errors", match: { min_level: 400 } });
  const made = await box.api("POST", "/v1/projects/shop/sources", { name: "cron" });
  const { token } = made.body;
  const rings = async (event: object) => (await box.ingest(token, event)).body.alerted;

  assert.equal(await rings({ message: "ERROR disk full" }), false, "as the contract has it: 200");
  const options = { level_from_text: true };
  const path = "/v1/projects/shop/sources/cron";
  assert.equal((await box.api("PUT", path, { retain_logs: true, options })).status, 200);
  assert.equal(await rings({ message: "ERROR disk full" }), true);
  assert.equal(await rings({ message: '{"level":"error","msg":"queue stuck"}' }), true);
  assert.equal(await rings({ message: "ERROR was the word of the day", level: 200 }), false);
  assert.equal(await rings({ message: "the disk is fine" }), false);

  const many = await fetch(`${box.url}/v1/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
    body: '{"message":"CRITICAL no database"}\n{"message":"hello"}\n',
  });
  const { results } = (await many.json()) as { results: { alerted: boolean }[] };
  assert.deepEqual(
    results.map(({ alerted }) => alerted),
    [true, false],
  );
});
