import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import test from "node:test";
import { testBox } from "../support/box.ts";
import { run } from "../support/children.ts";
import { handClock } from "../support/clock.ts";
import { boxAnswer, box as here } from "../support/command-line.ts";
import { programFile } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";
import { askUntil } from "../support/until.ts";

const program = await programFile();

test("status and doctor of a box that serves, for people and for scripts", async (t) => {
  const box = await testBox({}, handClock(Date.now()));
  t.after(() => box.stop());
  await box.project("shop");
  const status = await boxAnswer(["status", "--data", box.data]);
  assert.deepEqual(
    [status.running, status.address, status.tenant_id, status.counts.projects, status.health.ready],
    [true, box.url, box.tenant.id, 1, true],
  );
  const plain = await here(["status", "--data", box.data]);
  assert.match(plain.out, /^box is ok\n/);
  assert.ok(!plain.out.includes("\u001b"), "no colours where no terminal is");
  assert.match(plain.out, /^doctor +was not asked in System yet; box doctor looks now$/m);
  const doctor = await boxAnswer(["doctor", "--data", box.data]);
  assert.equal(doctor.ok, true);
  const asked = async () => {
    await box.api("POST", "/v1/doctor");
    await askUntil(
      () => box.api("GET", "/v1/doctor"),
      ({ running }) => !running,
    );
    const { out } = await here(["status", "--data", box.data]);
    return /^doctor +(.*)$/m.exec(out)?.[1];
  };
  assert.match((await asked()) ?? "", /^found nothing wrong .+; box doctor looks now$/);
  chmodSync(box.data, 0o755);
  assert.match((await asked()) ?? "", /^WRONG .+: directory; box doctor looks now, and says/);
  const found = await run(program, ["doctor", "--data", box.data], { FORCE_COLOR: "1" });
  assert.equal(found.code, 1);
  assert.match(found.out, /\u001b\[31mWRONG\u001b\[39m {2}directory/);
  assert.match(found.out, /→ chmod 700/);
});

test("where no box ever was: one sentence, and exit 1", async (t) => {
  const { code, err } = await here(["status", "--data", scratch(t)]);
  assert.equal(code, 1);
  assert.match(err, /^box: There is no .*box.db: is --data the box's data directory\?\n$/);
});

test("a health check asks the box of the data directory, or an address", async (t) => {
  const box = await testBox();
  t.after(() => box.stop());
  const check = async (...words: string[]) => {
    const { code, out, err } = await here(["health", "--data", box.data, ...words]);
    return [code, out, err];
  };
  assert.deepEqual(await check(), [0, "", ""]);
  assert.deepEqual(await check("--at", `${box.url}/`), [0, "", ""]);
  const nobody = "http://127.0.0.1:9";
  assert.deepEqual(await check("--at", nobody), [1, "", `box: no answer from ${nobody}\n`]);
});
