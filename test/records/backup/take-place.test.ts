import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { atDesk } from "../../../src/app/offline/desk.ts";
import { openKeyRing } from "../../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { handClock } from "../../support/clock.ts";
import { box } from "../../support/command-line.ts";
import { servedBefore } from "../../support/data.ts";
import { long, test } from "../../support/long.ts";
import { hashes, scratch } from "../../support/scratch.ts";

async function aBox(t: TestContext): Promise<{ outside: string; data: string }> {
  const outside = scratch(t);
  const data = join(outside, "data");
  servedBefore(data, "box");
  await atDesk({ data, clock: handClock(), random: systemRandom }, "pair-code", {});
  openKeyRing({ dir: data, name: "box.key", inUse: [] });
  return { outside, data };
}

long("a backup overwrites no file unless it is told to", async (t) => {
  const { outside, data } = await aBox(t);
  const file = join(outside, "copy.db");
  const backup = (...words: string[]) => box(["backup", file, "--data", data, ...words]);
  for (const [name, words] of [
    ["copy.db", []],
    ["copy.db.json", []],
    ["copy.db.key", ["--with-key"]],
  ] as const) {
    const path = join(outside, name);
    writeFileSync(path, "mine");
    const { code, err } = await backup(...words);
    assert.equal(code, 1, name);
    assert.match(err, /^box: \S+ exists already: name another file, or .* --replace\. Nothing/);
    assert.equal(readFileSync(path, "utf8"), "mine");
    assert.equal((await backup("--replace", ...words)).code, 0, name);
    const now = hashes(outside);
    assert.equal((await backup(...words)).code, 1, "a backup isn't overwritten either");
    assert.deepEqual(hashes(outside), now);
    assert.equal((await backup("--replace", ...words)).code, 0);
  }
});

test("a backup never takes the place of a file of a data directory", async (t) => {
  const { outside, data } = await aBox(t);
  const { data: other } = await aBox(t);
  const hosted = join(outside, "hosted");
  mkdirSync(join(hosted, "tenants"), { recursive: true });
  writeFileSync(join(hosted, "hosted.key"), "k");
  writeFileSync(join(hosted, "tenants", "b0b0b0b0b0b0b0b0.db"), "t");
  symlinkSync(other, join(outside, "by-link"));
  const targets = [
    "box.key",
    "box.db",
    "box.db-wal",
    "box",
    "serve.lock",
    "box.key.0011223344556677",
  ].flatMap((name) => [join(data, name), join(other, name), join(outside, "by-link", name)]);
  targets.push(join(hosted, "tenants", "b0b0b0b0b0b0b0b0.db"), join(hosted, "hosted.db"));
  const before = [hashes(data), hashes(other), hashes(hosted)];
  for (const target of targets)
    for (const flags of [[], ["--replace"]]) {
      const words = ["backup", target, "--data", data, "--with-key", ...flags];
      const { code, err } = await box(words);
      assert.equal(code, 1, target);
      assert.match(err, /is a name in a data directory that a backup must not take/);
    }
  assert.deepEqual([hashes(data), hashes(other), hashes(hosted)], before);

  const inside = join(data, "copy.sqlite");
  assert.equal((await box(["backup", inside, "--data", data])).code, 0);
  assert.ok(existsSync(`${inside}.json`));
  assert.equal((await box(["backup", inside, "--data", data, "--replace"])).code, 1);
});

test("a directory is no place for a backup, whatever is told", async (t) => {
  const { outside, data } = await aBox(t);
  mkdirSync(join(outside, "copies"));
  mkdirSync(join(outside, "copy.db.json"));
  for (const name of ["copies", "copy.db"])
    for (const flags of [[], ["--replace"]]) {
      const { code, err } = await box(["backup", join(outside, name), "--data", data, ...flags]);
      assert.equal(code, 1);
      assert.match(err, /^box: \S+ is a directory: name a file\. Nothing was written\.\n$/);
    }
  assert.deepEqual(readdirSync(outside).toSorted(), ["copies", "copy.db.json", "data"]);
});
