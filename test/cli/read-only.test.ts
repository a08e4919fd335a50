import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { atDesk } from "../../src/app/offline/desk.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box } from "../support/command-line.ts";
import { servedBefore } from "../support/data.ts";
import { hashes, scratch } from "../support/scratch.ts";

/** A push key that would be taken. */
const P8 = join(mkdtempSync(join(tmpdir(), "box-p8-")), "key.p8");
after(() => rmSync(dirname(P8), { recursive: true }));
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const PASSWORD = join(dirname(P8), "password");
writeFileSync(PASSWORD, "correct horse\n");
writeFileSync(P8, privateKey.export({ type: "pkcs8", format: "pem" }));

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
  ["account", "set-password", "ann@example.org", "--password-file", PASSWORD],
  ["sign-in", "password", "on"],
  ["key", "create", "ann@example.org"],
  ["session", "list"],
  ["session", "end", "0123456789abcdef"],
  ["hosted", "tenant", "add", "--kind", "box"],
  ["hosted", "account", "add", "--email", "ann@example.org"],
  ["hosted", "apns", "set", "--key-file", P8, "--key-id", "K", "--team-id", "T", "--topic", "app"],
  ["key", "revoke", "0123456789abcdef"],
  ["hosted", "tenant", "set", "0123456789abcdef", "--plan", "pro"],
  ["hosted", "session", "add", "--email", "ann@example.org"],
  ["hosted", "key", "add", "--tenant", "0123456789abcdef", "--email", "ann@example.org"],
  ["key-file", "rotate"],
  ["key-file", "add", "/dev/null"],
  ["backup", "/nonexistent/copy"],
];

test("where there is no store, only serving, restoring and a pairing code make one", async (t) => {
  const parent = scratch(t);
  const empty = join(parent, "empty");
  mkdirSync(empty, { mode: 0o755 });
  chmodSync(empty, 0o755);
  for (const words of [...looks, ...changes])
    for (const data of [empty, join(parent, "absent")]) {
      const { code, out, err } = await box([...words, "--data", data]);
      assert.equal(code, 1, `${words.join(" ")}: ${out}${err}`);
      assert.match(
        out + err,
        /There is no |no data directory|no store|is no directory/,
        words.join(" "),
      );
      assert.deepEqual(readdirSync(parent), ["empty"], words.join(" "));
      assert.deepEqual(readdirSync(empty), [], words.join(" "));
      assert.equal(statSync(empty).mode & 0o777, 0o755, words.join(" "));
    }
});

test("a pairing code can be made before a box served, in a directory that is missing or empty", async (t) => {
  const parent = scratch(t);
  const absent = join(parent, "new", "data");
  const code = (data: string, ...flags: string[]) =>
    box(["pair-code", "--json", "--data", data, ...flags]);
  assert.equal((await code(absent, "--ttl", "1")).code, 2);
  assert.deepEqual(readdirSync(parent), [], "wrong usage makes nothing");
  writeFileSync(join(parent, "notes"), "");
  assert.match((await code(parent)).err, /^box: There is no .*box.db: is --data/);
  assert.deepEqual(readdirSync(parent), ["notes"]);

  const made = await Promise.all(Array.from({ length: 4 }, () => code(absent)));
  for (const { code, out, err } of made) {
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).role, "owner");
  }
  assert.match(made[0]?.err ?? "", /^No box has served .* yet\. /);
  assert.equal(statSync(absent).mode & 0o777, 0o700);

  const served = await testBox({ data: absent });
  t.after(() => served.stop());
  const { code: first } = JSON.parse(made[0]?.out ?? "");
  const seat = { code: first, email: "ann@example.org", password: "correct horse" };
  assert.equal((await served.api("POST", "/v1/pair", seat, null)).status, 200);
  assert.equal((await code(absent)).err, "");
});

/** SQLite's log and its index, which lie beside a store while it is read. */
const BESIDE = ["box.db-shm", "box.db-wal"];

test("a look changes nothing where a box is, mode included", async (t) => {
  const data = join(scratch(t), "data");
  const desk = { data, clock: handClock(), random: systemRandom };
  servedBefore(data, "box");
  await atDesk(desk, "pair-code", {});
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
