import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, closeSync, existsSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import Database from "better-sqlite3";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { without } from "../faults/tools.ts";
import { boxCommand } from "../support/process.ts";
import { programFile } from "../support/program.ts";
import { hashes, scratch } from "../support/scratch.ts";

const program = await programFile();

test("serve on data that isn't a box's, or of a newer program: one sentence, 65 or 78, nothing changed", async (t) => {
  const data = scratch(t);
  const path = join(data, "box.db");
  writeFileSync(
    path,
    "this is no database, and longer than the hundred bytes that a header has".repeat(3),
  );
  const before = hashes(data);
  const garbage = await boxCommand("serve", "--data", data, "--listen", "127.0.0.1:0");
  assert.deepEqual([garbage.code, garbage.out], [65, ""]);
  assert.match(garbage.err, /^box: .*is no SQLite database.*\n$/);
  assert.equal(hashes(data)["box.db"], before["box.db"]);

  const newer = scratch(t);
  const options = { kind: "box" as const, clock: systemClock, random: systemRandom };
  openStore({ path: join(newer, "box.db"), ...options }).close();
  const db = new Database(join(newer, "box.db"));
  db.pragma("user_version = 900");
  db.close();
  const there = hashes(newer);
  for (const command of [["serve", "--listen", "127.0.0.1:0"], ["pair-code"]]) {
    const { code, err } = await boxCommand(...command, "--data", newer);
    assert.equal(code, 78, err);
    assert.match(err, /^box: .*schema 900; this program knows \d+\. Use the newer program.*\n$/);
    assert.equal(hashes(newer)["box.db"], there["box.db"]);
  }
});

/** Root may write anywhere, unless it is without the right to; as nobody it couldn't read a private checkout. */
const isRoot = process.getuid?.() === 0;
const bound = isRoot ? ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] : [];

test("a directory that can't be written: one sentence and 74", {
  skip: isRoot && without("setpriv"),
}, async (t) => {
  const data = scratch(t);
  chmodSync(data, 0o555);
  const [command = "", ...args] = [...bound, process.execPath, program, "serve"];
  const child = spawn(command, [...args, "--data", join(data, "new")]);
  let err = "";
  child.stderr.on("data", (text) => (err += text));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 74, err);
  assert.match(err, /^box: .*can't be used.*: is its directory writable.*\n$/);
});

test("a reader that has seen enough ends the command, and it is no failure", async (t) => {
  const words = Array.from(
    { length: 20_000 },
    (_, i) => `${i.toString(36)}x ${(i * 7919).toString(36)}y`,
  );
  const file = join(scratch(t), "many.log");
  // More templates than a pipe holds.
  writeFileSync(file, words.map((word, i) => `${"abcdefghijklmnop"[i % 16]}${word}`).join("\n"));
  const child = spawn(process.execPath, [program, "template", "try", file, "--json"]);
  let err = "";
  child.stderr.on("data", (text) => (err += text));
  child.stdout.once("data", () => child.stdout.destroy());
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.deepEqual([code, err], [0, ""]);
});

test("a box outlives the reader of what it prints", async (t) => {
  const child = spawn(process.execPath, [
    program,
    "serve",
    "--data",
    join(scratch(t), "new"),
    "--listen",
    "127.0.0.1:0",
  ]);
  t.after(() => child.kill("SIGKILL"));
  const url = await new Promise<string>((resolve) => {
    child.stdout.on("data", (text) => {
      const found = /listening on (\S+)/.exec(String(text))?.[1];
      if (found === undefined) return;
      child.stdout.destroy();
      resolve(found);
    });
  });
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  child.kill("SIGTERM");
  assert.equal(await ended, 0);
});

const full = existsSync("/dev/full") ? false : "no /dev/full, which is as full as a disk can be";

test("a box goes on though its log can't be written, and ends as ever", {
  skip: full,
}, async (t) => {
  const log = openSync("/dev/full", "w");
  t.after(() => closeSync(log));
  const data = join(scratch(t), "new");
  const flags = ["--data", data, "--listen", "127.0.0.1:0", "--log-level", "trace"];
  const child = spawn(process.execPath, [program, "serve", ...flags], {
    stdio: ["ignore", "pipe", log],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit");
  assert.ok(child.stdout);
  const [said] = await once(child.stdout, "data");
  const url = /listening on (\S+)/.exec(String(said))?.[1];
  // What is refused is logged.
  const headers = { authorization: `Bearer ptk_0123456789abcdef_${"x".repeat(43)}` };
  for (let i = 0; i < 3; i++)
    assert.equal((await fetch(`${url}/v1/projects`, { headers })).status, 401);
  child.kill("SIGTERM");
  assert.deepEqual(await ended, [0, null]);
});

test("a complaint that can't be written changes no exit code", { skip: full }, async (t) => {
  const err = openSync("/dev/full", "w");
  t.after(() => closeSync(err));
  for (const [words, expected] of [
    [["alerts", "--nonsense"], 2],
    [["verify", join(scratch(t), "nothing"), "--json"], 1],
    [["backup", "x", "--data", program], 1],
  ] as const) {
    const child = spawn(process.execPath, [program, ...words], { stdio: ["ignore", "pipe", err] });
    assert.deepEqual(await once(child, "close"), [expected, null], words.join(" "));
  }
});

test("what a command can't write is said: one sentence and 74", { skip: full }, async (t) => {
  const out = openSync("/dev/full", "w");
  t.after(() => closeSync(out));
  const child = spawn(process.execPath, [program, "completion", "bash"], {
    stdio: ["ignore", out, "pipe"],
  });
  let err = "";
  child.stderr?.on("data", (text) => (err += text));
  const [code] = await once(child, "close");
  assert.deepEqual([code, err], [74, "box: standard output: the disk is full\n"]);
});
