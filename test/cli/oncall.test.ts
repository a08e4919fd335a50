import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";

let served: TestBox;
before(async () => {
  served = await testBox();
});
after(() => served.stop());

const box = (...words: string[]) =>
  run(words, { env: { BOX_URL: served.url, BOX_KEY: served.owner.key } });

test("who is on call now: in every project or one, also where it is nobody", async () => {
  const now = Math.floor(served.clock.now() / 1000);
  const layer = { name: "l", participants: [served.owner.accountId], shift_minutes: 60 };
  const schedule = async (project: string, name: string, layers: object[]) => {
    const path = `/v1/projects/${project}/oncall/schedules`;
    const made = await served.api("POST", path, { name, timezone: "UTC", layers });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  };
  for (const name of ["bakery", "shop", "zoo"]) await served.api("POST", "/v1/projects", { name });
  await schedule("shop", "day", [{ ...layer, rotation_start: now - 60 }]);
  await schedule("shop", "later", [{ ...layer, rotation_start: now + 3600 }]);
  await schedule("zoo", "never", []);

  const all = await box("oncall");
  assert.equal(all.code, 0, all.err);
  const at = new Date((now + 3600) * 1000).toISOString().slice(0, 16).replace("T", " ");
  const rows = all.out.trim().split("\n");
  assert.equal(rows.length, 4);
  assert.match(rows[1] ?? "", /^shop +day +owner@example\.org/);
  assert.match(
    rows[2] ?? "",
    new RegExp(`^shop +later +nobody +${at}Z, then owner@example\\.org$`),
  );
  assert.match(rows[3] ?? "", /^zoo +never +nobody$/);

  const one = await box("oncall", "zoo", "--json");
  assert.deepEqual(JSON.parse(one.out), {
    oncall: [{ on_call: false, next: null, project: "zoo", schedule: "never" }],
  });
  const none = await box("oncall", "nowhere");
  assert.notEqual(none.code, 0);
  assert.match(none.err, /there is no project "nowhere"; there is bakery, shop, zoo/);
});
