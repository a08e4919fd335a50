import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { tooDear } from "../support/account.ts";
import { ALONE, FIRST, filesOf, grouped, hasLong, LONG } from "../support/groups.ts";
import { scratch } from "../support/scratch.ts";
import { root } from "./document.ts";

/** How the suite runs its files: what is told of faults must not depend on it. */

const support = (name: string) => pathToFileURL(join(root, "test/support", name)).href;

/** Runs files, by name and text, in a directory of their own; the first is started. */
function play(t: TestContext, files: Record<string, string>, ...flags: string[]) {
  return playAs(t, {}, files, ...flags);
}

function playAs(t: TestContext, as: object, files: Record<string, string>, ...flags: string[]) {
  const directory = scratch(t);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const { NODE_TEST_CONTEXT: _, BOX_TEST_SUITE: __, ...own } = process.env;
  const env = { ...own, ...as };
  const [first = ""] = Object.keys(files);
  const words = [...flags, "--test-timeout=20000", "--test-reporter=tap", join(directory, first)];
  const { stdout, status } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  const verdicts = [...stdout.matchAll(/^ *(ok|not ok) \d+ - (.*)$/gm)];
  return { status, stdout, verdicts: verdicts.map(([, is, name]) => `${is} ${name}`) };
}

test("each file runs once, whatever the seed, and those that share a process are mixed by it", () => {
  const files = globSync("test/**/*.test.ts", { cwd: root });
  const orders = [20_260_329, 7, 8].map((seed) => grouped(files, seed));
  for (const groups of orders) assert.deepEqual(groups.flat().toSorted(), files.toSorted());
  assert.equal(new Set(orders.map((groups) => JSON.stringify(groups))).size, orders.length);
  for (const name of [...FIRST, ...ALONE]) {
    assert.ok(files.includes(`test/${name}.test.ts`), `${name} is no test any more`);
    assert.equal(orders[0]?.filter((group) => group.join() === `test/${name}.test.ts`).length, 1);
  }
});

test("the suite of daily work and the long one are together all files, and each whole file is of one", () => {
  const files = globSync("test/**/*.test.ts", { cwd: root });
  const [short, long] = [filesOf("short", files), filesOf("long", files)];
  assert.deepEqual([...new Set([...short, ...long])].toSorted(), files.toSorted());
  for (const name of LONG) assert.ok(long.includes(`test/${name}.test.ts`), `${name} is no test`);
  assert.deepEqual(
    short.filter((file) => long.includes(file)),
    short.filter(hasLong),
  );
  assert.deepEqual(
    long.filter((file) => !short.includes(file) && hasLong(file)),
    [],
  );
});

test("a file with long tests takes all its tests from there, so that none is run in both suites", () => {
  const nodes = (file: string) => {
    const text = readFileSync(join(root, file), "utf8");
    const [, names = ""] = /^import (.*) from "node:test";$/m.exec(text) ?? [];
    return /\btest\b|\bit\b/.test(names) || /^import [^;]*\bpostgresTest\b/m.test(text);
  };
  const files = globSync("test/**/*.ts", { cwd: root });
  const takers = files.filter(hasLong);
  assert.deepEqual(takers.filter(nodes), []);
  // Only a test file is found by what it imports.
  const others = files.filter((file) => !(file.endsWith(".test.ts") && hasLong(file)));
  const imports = /from "[./]+\/support\/long\.ts"/;
  assert.deepEqual(
    others.filter((file) => imports.test(readFileSync(join(root, file), "utf8"))),
    [],
  );
});

test("each test of a file runs in one of both suites, and all of them where the file runs alone", (t) => {
  const main = `
    import { long, test } from "${support("long.ts")}";
    import { describe } from "node:test";
    test("short", () => {});
    describe("those", () => { long("long", () => {}); });
  `;
  const seen = (as: object) =>
    playAs(t, as, { "main.mjs": main }).verdicts.filter((verdict) =>
      / (short|long)$/.test(verdict),
    );
  assert.deepEqual(seen({ BOX_TEST_SUITE: "short" }), ["ok short"]);
  assert.deepEqual(seen({ BOX_TEST_SUITE: "long" }), ["ok long"]);
  assert.deepEqual(seen({}), ["ok short", "ok long"]);
});

test("a file that takes too much of the suite's CPU is named", (t) => {
  const path = join(scratch(t), "account");
  const many = Array.from({ length: 100 }, (_, n) => `0.80 + 0.20 test/core/${n}.test.ts`);
  const lines = [
    ...many,
    "1.10 + 0.00 load test/a.test.ts",
    "90.00 + 9.00 node_modules/groups/a.mjs",
  ];
  writeFileSync(path, lines.join("\n"));
  assert.equal(tooDear(path), "");
  writeFileSync(path, [...lines, "0.50 + 11.10 test/a.test.ts"].join("\n"));
  assert.match(tooDear(path), /^TOO DEAR .*test\/a\.test\.ts takes 11\.6 of 111\.6 s of CPU\..*$/);
});

test("no file that shares a process waits while it is loaded", () => {
  const known = new Map<string, boolean>();
  const waits = (file: string): boolean => {
    const before = known.get(file);
    if (before !== undefined) return before;
    known.set(file, false);
    const text = readFileSync(join(root, file), "utf8");
    const near = [...text.matchAll(/^import (?!type )[^;]*?from "(\.[^"$]+\.ts)"/gm)].map(
      ([, to = ""]) => join(dirname(file), to),
    );
    const does =
      /^(?:(?:export )?(?:const|let) .*= )?await /m.test(text) ||
      near.some((other) => other.startsWith("test/") && waits(other));
    known.set(file, does);
    return does;
  };
  const shared = grouped(globSync("test/**/*.test.ts", { cwd: root })).filter(
    (of) => of.length > 1,
  );
  assert.deepEqual(shared.flat().filter(waits), []);
  assert.ok(waits("test/support/process.ts"));
});

test("files in one process keep what they do before each test, and a fault is told with file and test", (t) => {
  const file = (name: string) => `
    import { beforeEach, test } from "node:test";
    let runs = 0;
    beforeEach(() => { runs += 1; });
    test("first of ${name}", () => {});
    test("second of ${name}", () => { if (runs !== 2 || "${name}" === "b") throw new Error("it ran " + runs); });
  `;
  const main = `
    import { together } from "${support("together.ts")}";
    together(["a.mjs", "b.mjs", "c.mjs", "none.mjs"].map((name) => import.meta.dirname + "/" + name));
  `;
  const files = { "main.mjs": main, "a.mjs": file("a"), "b.mjs": file("b"), "c.mjs": file("c") };
  const { status, verdicts, stdout } = play(t, files);
  assert.equal(status, 1);
  const faults = verdicts.filter((verdict) => verdict.startsWith("not ok"));
  assert.equal(faults.length, 3, stdout);
  assert.match(faults[0] ?? "", /second of b/);
  assert.match(faults[1] ?? "", /b\.mjs$/);
  assert.match(faults[2] ?? "", /none\.mjs$/);
  assert.match(stdout, /it ran 2/);
});

test("a fault that nobody waits for is told with the test that it came from, as Node tells it", (t) => {
  const text = `
    import { describe, test } from "node:test";
    import { setTimeout as pause } from "node:timers/promises";
    // Turns of the loop, and not a time: a machine that stands still for a while must not end the test first.
    const turns = async () => { for (let turn = 0; turn < 20; turn++) await pause(1); };
    const late = (how) => async () => { how(); await turns(); };
    const fault = () => { throw new Error("late"); };
    test("a timer", late(() => setTimeout(fault, 1)));
    test("a tick", late(() => process.nextTick(fault)));
    test("a promise", late(() => void Promise.reject(new Error("late"))));
    test("a promise after others", late(async () => { await pause(1); await null; fault(); }));
    describe("a suite", () => {
      test("later in a test", async () => { await pause(1); void Promise.reject(new Error("late")); await turns(); });
      test("nothing", () => {});
    });
    test("a test in a test", async () => { await pause(1); await test("the inner one", async () => { await pause(1); fault(); }); });
  `;
  const follow = `import { followTests } from "${support("follow.ts")}"; followTests();`;
  const nodes = play(t, { "faults.mjs": text });
  const directory = scratch(t);
  writeFileSync(join(directory, "preload.mjs"), follow);
  const ours = play(t, { "faults.mjs": text }, "--import", join(directory, "preload.mjs"));
  assert.deepEqual(ours.verdicts, nodes.verdicts, ours.stdout);
  assert.deepEqual([ours.status, nodes.status], [1, 1]);
  assert.equal(ours.verdicts.filter((verdict) => verdict.startsWith("not ok")).length, 8);
});
