import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { box as run } from "../support/command-line.ts";
import { settle } from "../support/until.ts";

let served: TestBox;
before(async () => {
  served = await testBox();
  await served.project("shop");
});
after(() => served.stop());

async function set(rule: object): Promise<string> {
  const env = { BOX_URL: served.url, BOX_KEY: served.owner.key };
  const { code, out, err } = await run(["rule", "set", "shop", "-"], {
    env,
    input: JSON.stringify(rule),
  });
  assert.equal(code, 0, err);
  return out;
}

test("a rule that is set says which actions it runs, named by it or not", async () => {
  assert.equal(
    await set({ name: "errors" }),
    "created rule errors\nit names no actions, so it runs every enabled one: none now\n",
  );
  const action = { method: "POST", url: "http://127.0.0.1:9/x" };
  const make = (more: object) =>
    served.api("POST", "/v1/projects/shop/actions", { ...action, ...more });
  const restart = await make({ name: "restart", events: ["alert.opened", "alert.escalated"] });
  await make({ name: "off", enabled: false });
  assert.equal(
    await set({ name: "errors" }),
    "replaced rule errors\nit names no actions, so it runs every enabled one: restart (alert.escalated, alert.opened)\n",
  );
  assert.match(await set({ name: "one", actions: [restart.body.id] }), /that it names: restart \(/);
  assert.match(
    await set({ name: "none", actions: [] }),
    /of the actions that it names: none now\n$/,
  );
});

test("a rule names people by email and actions by name", async () => {
  const action = { name: "by name", method: "POST", url: "http://127.0.0.1:9/x" };
  const { body } = await served.api("POST", "/v1/projects/shop/actions", action);
  await set({
    name: "named",
    actions: ["by name"],
    escalations: [{ accounts: ["Owner@example.org"] }],
  });
  const rule = (await served.api("GET", "/v1/projects/shop/rules/named")).body;
  assert.deepEqual(rule.actions, [body.id]);
  assert.deepEqual(rule.escalations[0].accounts, [served.owner.accountId]);
});

test("a rule whose alerts are open is deleted with --yes alone, in words before and after", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop");
  const step = { accounts: [box.owner.accountId], after_minutes: 5 };
  const remove = (...words: string[]) =>
    run(["rule", "delete", "shop", "errors", ...words], {
      env: { BOX_URL: box.url, BOX_KEY: box.owner.key },
    });
  const make = () =>
    box.api("POST", "/v1/projects/shop/rules", { name: "errors", escalations: [step] });
  await make();
  assert.deepEqual([(await remove()).code, (await make()).status], [0, 201]);
  await box.ingest(token, { message: "it is down", level: 400 });
  await settle(box);
  const line =
    "shop: this ends the ladder of alert 1 of rule errors, which named owner@example.org\n";
  const refused = await remove();
  assert.equal(refused.code, 1);
  assert.ok(refused.err.includes(`${line}--yes applies it all the same`), refused.err);
  assert.equal((await box.api("GET", "/v1/projects/shop/rules/errors")).status, 200);
  const done = await remove("--yes");
  assert.deepEqual([done.code, done.out], [0, `deleted errors\n${line}`]);
});
