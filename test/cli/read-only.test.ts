import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { withPeople } from "../../src/desk/people.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { handClock } from "../support/clock.ts";
import { box } from "../support/command-line.ts";
import { hashes, scratch } from "../support/scratch.ts";

/** Commands that look at a data directory. */
const looks = [
  ["account", "list"],
  ["key", "list"],
  ["key", "list", "--account", "ann@example.org"],
  ["status"],
  ["doctor"],
];
/** Commands that change what is there, and have nothing to do where nothing is. */
const changes = [
  ["account", "set-role", "ann@example.org", "admin"],
  ["account", "remove", "ann@example.org"],
  ["key", "revoke", "0123456789abcdef"],
  ["hosted", "tenant", "set", "0123456789abcdef", "--plan", "pro"],
  ["hosted", "session", "add", "--email", "ann@example.org"],
  ["hosted", "key", "add", "--tenant", "0123456789abcdef", "--email", "ann@example.org"],
  ["key-file", "rotate"],
  ["key-file", "add", "/dev/null"],
  ["backup", "/nonexistent/copy"],
];

test("where there is no store, only the commands that begin one make it", async (t) => {
  const parent = scratch(t);
  const empty = join(parent, "empty");
  mkdirSync(empty, { mode: 0o755 });
  chmodSync(empty, 0o755);
  for (const words of [...looks, ...changes])
    for (const data of [empty, join(parent, "absent")]) {
      const { code, out, err } = await box([...words, "--data", data]);
      assert.notEqual(code, 0, words.join(" "));
      assert.ok(err.length + out.length > 0);
      assert.deepEqual(readdirSync(parent), ["empty"], words.join(" "));
      assert.deepEqual(readdirSync(empty), [], words.join(" "));
      assert.equal(statSync(empty).mode & 0o777, 0o755, words.join(" "));
    }
});

/** SQLite's log and its index, which lie beside a store while it is read. */
const BESIDE = ["box.db-shm", "box.db-wal"];

test("a look changes nothing where a box is, mode included", async (t) => {
  const data = join(scratch(t), "data");
  const desk = { data, clock: handClock(), random: systemRandom };
  withPeople(desk, (people) => people.issue({}));
  chmodSync(data, 0o750);
  const before = { files: hashes(data), names: readdirSync(data) };
  for (const words of looks) {
    await box([...words, "--data", data]);
    assert.deepEqual(hashes(data), before.files, words.join(" "));
    const made = readdirSync(data).filter((name) => ![...before.names, ...BESIDE].includes(name));
    assert.deepEqual(made, [], words.join(" "));
    assert.equal(statSync(data).mode & 0o777, 0o750, words.join(" "));
  }
});
