import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { atDesk } from "../../src/app/offline/desk.ts";
import { addKeyFile } from "../../src/app/offline/key-file.ts";
import { rotateKey } from "../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { keyIdOf } from "../../src/ground/kit/seal.ts";
import { newMark, writeMark } from "../../src/ground/store/record/mark.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { type TestProject, testProject } from "../support/channels.ts";
import { box as run } from "../support/command-line.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { scratch } from "../support/scratch.ts";
import { pass, settle, through } from "../support/until.ts";

let box: TestBox;
let receiver: Receiver;
let shop: TestProject;
let hook = "";
let action = "";
beforeEach(async () => {
  receiver = await startReceiver();
  box = await testBox();
  shop = await testProject(box, "shop");
  hook = await shop.webhook(`${receiver.url}/hook`, { secret: "the-first-secret" });
  const made = await box.api("POST", "/v1/projects/shop/actions", {
    name: "a",
    method: "POST",
    url: `${receiver.url}/action`,
    body: "stored",
  });
  action = made.body.id;
});
afterEach(async () => {
  await receiver.close();
  await through(box, box.stop());
});

const keyFile = () => join(box.data, "box.key");
const desk = () => ({ data: box.data, clock: box.clock, random: systemRandom });
const ready = async (key: string | null = null) =>
  (await box.api("GET", "/readyz", undefined, key)).body;
const seen = (path: string) => receiver.received.filter((request) => request.path === path);
const sealedKeys = () =>
  box.tenant.store
    .sql(
      "SELECT sealed FROM integrations WHERE sealed IS NOT NULL UNION ALL SELECT sealed_body FROM actions",
    )
    .pluck()
    .all()
    .map((sealed) => keyIdOf(String(sealed)));
const check = async (name: string, key?: string) =>
  (await ready(key)).checks.find((each: { name: string }) => each.name === name);

test("without its key the box starts, names what is lost, and pages by what is not sealed with it", async () => {
  await box.restart(() => renameSync(keyFile(), `${box.data}/kept`));
  assert.equal((await ready()).status, "degraded");
  const { ok, detail } = await check("sealed");
  assert.equal(ok, false);
  assert.match(detail, /: 1 channel; 1 action: box doctor says which/);
  const named = (await check("sealed", box.owner.key)).detail;
  assert.match(named, /: channel shop: webhook; action shop: a$/);
  for (const said of [detail, named])
    assert.ok(!said.includes(hook) && !said.includes(action), `an id stands in: ${said}`);

  await shop.fire(1);
  await settle(box);
  assert.equal(receiver.received.length, 0);
  const [row] = await shop.deliveries(hook);
  assert.deepEqual(
    [row?.status, row?.last_error],
    ["pending", "sealed credential unreadable: enter it again"],
  );
  const endpoint = await shop.integration(hook);
  assert.deepEqual(
    [endpoint.enabled, endpoint.consecutive_failures, endpoint.last_error],
    [true, 0, "sealed credential unreadable: enter it again"],
  );
  const runs = await box.api("GET", `/v1/projects/shop/actions/${action}/executions`);
  assert.equal(runs.body.executions[0].error, "sealed credential unreadable: enter it again");

  const other = await shop.webhook(`${receiver.url}/new`);
  await shop.fire(2);
  await settle(box);
  assert.equal(seen("/new").length, 1);
  assert.equal((await shop.deliveries(other))[0]?.status, "delivered");
});

test("a credential entered again is sealed under a key of its own, and what waited goes out", async () => {
  await box.restart(() => renameSync(keyFile(), `${box.data}/kept`));
  await shop.fire(1);
  await settle(box);
  const put = await box.api("PUT", `/v1/projects/shop/integrations/${hook}`, {
    secret: "the-second-secret",
  });
  assert.equal(put.status, 200);
  await settle(box);
  assert.equal(seen("/hook").length, 1);
  assert.equal(new Set(sealedKeys()).size, 2);
  const lost = (await check("sealed", box.owner.key)).detail;
  assert.match(lost, /: action shop: a$/);
  assert.ok(readdirSync(box.data).some((file) => /^box\.key\.[0-9a-f]{16}$/.test(file)));
});

test("the old file put back opens the old values, and those entered since stay open", async () => {
  await box.restart(() => renameSync(keyFile(), `${box.data}/kept`));
  const newer = await shop.webhook(`${receiver.url}/newer`);
  await shop.fire(1);
  await settle(box);
  renameSync(`${box.data}/kept`, keyFile());
  await pass(box, 5);
  assert.equal(seen("/hook").length, 1, "found without a restart");
  assert.equal((await ready()).status, "ok");
  await box.restart();
  await shop.fire(2);
  await settle(box);
  assert.equal(seen("/hook").length, 2);
  assert.equal(
    (await shop.deliveries(newer)).every(({ status }) => status === "delivered"),
    true,
  );
  assert.equal((await ready()).status, "ok");
});

test("a wrong key file is no key to what is stored; the right one can be added beside it", async () => {
  copyFileSync(keyFile(), `${box.data}/kept`);
  await box.restart(() => {
    rmSync(keyFile());
    writeFileSync(keyFile(), systemRandom.bytes(32), { mode: 0o600 });
  });
  assert.equal((await check("sealed")).ok, false);
  const added = addKeyFile(desk(), `${box.data}/kept`);
  assert.deepEqual(added.unreadable, []);
  await pass(box, 2);
  assert.equal((await check("sealed")).ok, true);
  await shop.fire(1);
  await settle(box);
  assert.deepEqual([seen("/hook").length, seen("/action")[0]?.body], [1, "stored"]);
  assert.throws(() => addKeyFile(desk(), join(box.data, "box.db")), /no key file/);
});

test("rotation seals everything anew while the box serves; every key is kept", async () => {
  const [before] = sealedKeys();
  const done = await atDesk(desk(), "key-file rotate");
  assert.deepEqual([done.resealed, done.unreadable], [2, 0]);
  assert.deepEqual(new Set(sealedKeys()), new Set([done.key_id]));
  assert.notEqual(done.key_id, before);
  assert.equal(statSync(keyFile()).mode & 0o777, 0o600);
  assert.equal(statSync(join(box.data, `box.key.${before}`)).mode & 0o777, 0o600);
  await shop.fire(1);
  await settle(box);
  assert.deepEqual([seen("/hook").length, seen("/action")[0]?.body], [1, "stored"]);
  await shop.webhook(`${receiver.url}/after`);
  assert.deepEqual(new Set(sealedKeys()), new Set([done.key_id]));
  await box.restart();
  assert.equal((await ready()).status, "ok");
});

test("a rotation that died once its key was made leaves every value open, and the next one finishes", async () => {
  const before = sealedKeys();
  rotateKey(box.data, "box.key");
  await box.restart();
  assert.equal((await ready()).status, "ok");
  assert.deepEqual(sealedKeys(), before);
  const done = await atDesk(desk(), "key-file rotate");
  assert.deepEqual(new Set(sealedKeys()), new Set([done.key_id]));
  await shop.fire(1);
  await settle(box);
  assert.equal(seen("/hook").length, 1);
});

test("beside a machine that stands by without the new key nothing is rotated", async () => {
  const before = sealedKeys();
  writeMark(box.data, { ...newMark, hasOthers: true });
  await assert.rejects(atDesk(desk(), "key-file rotate"), /Another machine stands by/);
  assert.deepEqual(sealedKeys(), before);
  writeMark(box.data, { ...newMark, hasOthers: false });
  await atDesk(desk(), "key-file rotate");
  assert.notDeepEqual(sealedKeys(), before);
});

test("a lost key file can't be rotated over", async () => {
  await box.restart(() => renameSync(keyFile(), `${box.data}/kept`));
  await assert.rejects(atDesk(desk(), "key-file rotate"), /no usable key/);
});

test("a key is added where another machine has the box's storage, which says there what it opens", async (t) => {
  const data = scratch(t);
  writeMark(data, { ...newMark, isOlder: true });
  const file = join(data, "old.key");
  writeFileSync(file, randomBytes(32));
  const { code, out } = await run(["key-file", "add", file, "--data", data]);
  assert.equal(code, 0);
  assert.match(out, /another machine has the box's present storage: box doctor there names/);
});
