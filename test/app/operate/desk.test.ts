import assert from "node:assert/strict";
import { join } from "node:path";
import { verifyBackup } from "../../../src/records/backup/verify.ts";
import { testBox } from "../../support/box.ts";
import { handClock } from "../../support/clock.ts";
import { box as run } from "../../support/command-line.ts";
import { long, test } from "../../support/long.ts";
import { scratch } from "../../support/scratch.ts";
import { askUntil } from "../../support/until.ts";

long(
  "the doctor looks in a process of its own when a manager asks; what it found is kept with its time, over a start",
  async (t) => {
    const box = await testBox();
    t.after(() => box.stop());
    await box.project("shop");
    const member = box.person("member").key;
    const doctor = (key?: string) => box.api("GET", "/v1/doctor", undefined, key);
    const before = (await doctor()).body;
    assert.deepEqual(before, { at: null, running: false, failure: null, findings: [] });
    assert.equal((await box.api("POST", "/v1/doctor", undefined, member)).status, 403);
    for (let i = 0; i < 2; i++) {
      const asked = await box.api("POST", "/v1/doctor");
      assert.deepEqual([asked.status, asked.body], [202, { running: true }]);
    }
    const found = await askUntil(doctor, ({ running }) => !running);
    assert.equal(found.at, Math.floor(box.clock.now() / 1000));
    const { findings } = found;
    for (const check of ["directory", "store", "disk", "channels"])
      assert.ok(
        findings.some((each: { check: string }) => each.check === check),
        check,
      );
    assert.equal(
      findings.find(({ check }: { check: string }) => check === "channels").state,
      "note",
      "the box's own channels: none",
    );
    await box.restart();
    assert.deepEqual((await doctor(member)).body, found, "members see the findings");
  },
);

test("a stop doesn't wait for the doctor", async () => {
  const box = await testBox();
  await box.api("POST", "/v1/doctor");
  await box.stop();
});

long(
  "a backup is made when a manager asks, proved, listed, and nothing of it can be fetched",
  async (t) => {
    const dir = join(scratch(t), "backups");
    // What makes a backup lives in the machine's time.
    const box = await testBox(
      { backupDir: dir, backupHours: "6", backupKeep: "3" },
      handClock(Date.now()),
    );
    t.after(() => box.stop());
    const list = () => box.api("GET", "/v1/backups");
    await box.clock.turn(1000);
    const [first] = (await askUntil(list, ({ backups }) => backups.length === 1)).backups;
    await askUntil(list, ({ running }) => !running);
    await box.clock.turn(5000);
    const asked = await box.api("POST", "/v1/backups");
    assert.deepEqual([asked.status, asked.body], [202, { running: true }]);
    const now = await askUntil(list, ({ backups, running }) => backups.length === 2 && !running);
    assert.deepEqual([now.scheduled, now.failure], [{ hours: 6, keep: 3 }, null]);
    assert.equal(now.backups[1].file, first.file, "newest first");
    for (const { file, size, proved_at } of now.backups) {
      const manifest = verifyBackup(join(dir, file));
      assert.deepEqual([manifest.size, manifest.proved_at], [size, proved_at]);
      assert.equal((await box.api("GET", `/v1/backups/${file}`)).status, 404);
    }
    const env = { BOX_URL: box.url, BOX_KEY: box.owner.key };
    assert.match((await run(["backups"], { env })).out, /one every 6 h, the last 3 are kept/);
    const { key } = box.person("member");
    assert.equal((await box.api("GET", "/v1/backups", undefined, key)).status, 403);
    assert.equal((await box.api("POST", "/v1/backups", undefined, key)).status, 403);
  },
);

test("without a directory for them none is made, and that is said", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const { body } = await box.api("GET", "/v1/backups");
  assert.deepEqual([body.scheduled, body.backups], [null, []]);
  const refused = await box.api("POST", "/v1/backups");
  assert.deepEqual([refused.status, refused.body.error.code], [409, "backup_dir_missing"]);
});
