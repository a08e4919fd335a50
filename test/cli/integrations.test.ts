import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { testProject } from "../support/channels.ts";
import { realClock } from "../support/clock.ts";
import { box as run } from "../support/command-line.ts";
import { answer, type Receiver, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

const scratch = mkdtempSync(path.join(tmpdir(), "box-cli-"));
let served: TestBox;
let receiver: Receiver;
before(async () => {
  served = await testBox({}, realClock());
  receiver = await startReceiver();
});
after(async () => {
  await receiver.close();
  await served.stop();
  rmSync(scratch, { recursive: true, force: true });
});

const box = (...args: string[]) => boxWith({}, args);

/** Runs `box …` with the box's address, its directory and the owner's key in its environment. */
const boxWith = (more: Record<string, string>, args: readonly string[]) =>
  run(args, {
    env: { BOX_URL: served.url, BOX_KEY: served.owner.key, BOX_DATA: served.data, ...more },
  });

async function json(...args: string[]) {
  const { code, out, err } = await box(...args, "--json");
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

test("a channel from the terminal: added, tested, its deliveries seen, switched, deleted", async () => {
  const shop = await testProject(served, "shop");
  const add = ["integration", "add-webhook", "shop", `${receiver.url}/hook`];
  const made = await json(...add, "--name", "ops", "--event", "alert.opened", "alert.resolved");
  assert.match(made.secret, /^whsec_/);
  const listed = await box("integration", "list", "shop");
  assert.match(
    listed.out,
    new RegExp(`^${made.id}  webhook  ops .*alert.opened,alert.resolved`, "m"),
  );
  assert.deepEqual(await json("integration", "test", "shop", made.id), { ok: true });

  await shop.fire(1);
  await until(() => receiver.received.length === 2, "the delivery arrives");
  const rows = await json("integration", "deliveries", "shop", made.id, "--limit", "1");
  assert.equal(rows.deliveries[0].event, "alert.opened");
  await until(() => served.tenant.outbox.deliveries.inFlight === 0, "and is written");
  const [row] = rows.deliveries;
  const of = (...flags: string[]) => json("integration", "deliveries", "shop", made.id, ...flags);
  assert.equal(
    (await of("--event", "alert.opened", "--alert", `#${row.alert_id}`)).deliveries.length,
    1,
  );
  assert.equal((await of("--status", "dropped")).deliveries.length, 0);
  const whole = await box("integration", "delivery", "shop", made.id, row.id);
  assert.match(whole.out, /delivered\n/);
  assert.match(whole.out, /\d ms +204? /);
  assert.match(whole.out, /\nX-Service-Signature: \[sealed\]\n/);
  assert.ok(whole.out.trimEnd().endsWith(receiver.received.at(-1)?.body ?? "?"), "the bytes");
  await json("integration", "resend", "shop", made.id, row.id);
  await until(() => receiver.received.length === 3, "it arrives again");
  const refused = await box("integration", "deliveries", "shop", made.id, "--limit", "999");
  assert.equal(refused.code, 1);
  assert.match(refused.err, /must be from 1 to 200/);

  receiver.once(answer(500));
  const failed = await box("integration", "test", "shop", made.id);
  assert.deepEqual([failed.code, failed.err], [1, "box: it did not get through: http 500\n"]);
  assert.equal((await box("integration", "disable", "shop", made.id)).out, `disabled ${made.id}\n`);
  assert.match((await box("integration", "list", "shop")).out, / OFF /);
  assert.deepEqual(await json("integration", "enable", "shop", made.id), { enabled: true });
  assert.deepEqual(await json("integration", "delete", "shop", made.id), { deleted: true });
});

test("Telegram and Slack are added with what they need", async () => {
  await served.project("chat");
  const url = `${receiver.url}/services/x`;
  assert.match((await json("integration", "add-slack", "chat", url)).id, /^[0-9a-f]{16}$/);
  const telegram = ["integration", "add-telegram", "chat", "--chat", "-5"];
  assert.equal((await box(...telegram)).code, 2);
  await json(...telegram, "--token", "1:a");
  const { integrations } = await json("integration", "list", "chat");
  assert.deepEqual(integrations.map(({ type }: { type: string }) => type).sort(), [
    "slack",
    "telegram",
  ]);
});

test("an ingest token in the environment is never taken for a bot's; a bot's has a name of its own", async () => {
  await served.project("twin");
  const telegram = ["integration", "add-telegram", "twin", "--chat", "-5"];
  const torn = await boxWith({ BOX_TOKEN: "pti_box_ingest" }, telegram);
  assert.equal(torn.code, 2, torn.out);
  const named = await boxWith({ BOX_TELEGRAM_TOKEN: "1:a" }, telegram);
  assert.equal(named.code, 0, named.err);
  assert.equal((await json("integration", "list", "twin")).integrations.length, 1);
});

test("an action is set by its name, run, and its runs are shown", async () => {
  await served.project("run");
  const file = path.join(scratch, "action.json");
  const action = { name: "restart", method: "POST", url: `${receiver.url}/restart` };
  writeFileSync(file, JSON.stringify({ ...action, headers: { a: "b" } }));
  const made = await json("action", "set", "run", file);
  writeFileSync(file, JSON.stringify({ ...action, method: "PUT" }));
  assert.deepEqual(await json("action", "set", "run", file), { id: made.id, updated: true });
  assert.match((await box("action", "list", "run")).out, / restart {2}PUT /);
  assert.equal((await box("action", "test", "run", made.id)).out, "it answered 204\n");
  receiver.once(answer(404));
  const failed = await box("action", "test", "run", made.id);
  assert.deepEqual([failed.code, failed.err], [1, "box: it failed: http 404\n"]);
  const { executions } = await json("action", "executions", "run", made.id);
  assert.deepEqual(
    executions.map(({ status }: { status: string }) => status),
    ["failed", "succeeded"],
  );
  assert.deepEqual(await json("action", "delete", "run", made.id), { deleted: true });
  writeFileSync(file, "[]");
  const none = await box("action", "set", "run", file);
  assert.equal(none.code, 2);
  assert.match(none.err, /an action must be a JSON object with a "name"/);
});

test("keys are rotated and added beside the serving box", async () => {
  const kept = path.join(scratch, "old.key");
  copyFileSync(path.join(served.data, "box.key"), kept);
  const rotated = await json("key-file", "rotate");
  assert.match(rotated.key_id, /^[0-9a-f]{16}$/);
  assert.equal(rotated.unreadable, 0);
  const added = await json("key-file", "add", kept);
  assert.deepEqual([added.key_ids.length, added.unreadable], [1, []]);
  const nowhere = await box("key-file", "rotate", "--data", scratch);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.err, /There is no \S+box\.db: is --data/);
});
