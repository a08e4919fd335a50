import assert from "node:assert/strict";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { handClock } from "../support/clock.ts";
import { box } from "../support/command-line.ts";
import { scratch } from "../support/scratch.ts";

let served: TestBox;
before(async () => {
  // Codes are made in the machine's time.
  served = await testBox({}, handClock(Date.now()));
});
after(() => served.stop());

/** A user of the machine, with a home of their own. */
function person(t: TestContext) {
  const home = scratch(t);
  const file = join(home, ".config/box/login.json");
  const run = (words: string[], env: Record<string, string> = {}, input = "") =>
    box(words, { env: { HOME: home, ...env }, input });
  return { home, file, run };
}

test("a pairing code as it is printed becomes a login, and every command uses it", async (t) => {
  const { file, run } = person(t);
  const code = (await run(["pair-code", "--data", served.data])).out;
  const words = ["login", "--code", code, "--email", "ann@example.org", "--password-file", "-"];
  const done = await run(words, {}, "a long password\n");
  assert.equal(done.code, 0, done.err);
  assert.equal(done.out, `ann@example.org (member) at ${served.url}, kept in ${file}\n`);
  assert.deepEqual(
    [statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777],
    [0o600, 0o700],
  );
  assert.equal((await run(["project", "add", "first"])).out, "created project first\n");
  assert.equal((await run(["logout"])).out, "forgotten\n");
  const lost = await run(["project", "list"]);
  assert.equal(lost.code, 2);
  assert.match(lost.err, /^box: an API key is needed: box login /);
});

test("flags come first, then the environment, then the login", async (t) => {
  const { file, run } = person(t);
  await run(["login", "--url", served.url, "--key", served.owner.key]);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).key, served.owner.key);
  const env = { BOX_URL: "http://127.0.0.1:1", BOX_KEY: "ptk_x_env" };
  const [byEnv, byFlag] = [
    await run(["project", "list"], env),
    await run(["project", "list", "--url", served.url, "--key", served.owner.key], env),
  ];
  assert.match(byEnv.err, /no answer from http:\/\/127\.0\.0\.1:1: nothing listens there/);
  assert.equal(byFlag.code, 0, byFlag.err);
});

test("the key of a login is shown to no other box", async (t) => {
  const { run } = person(t);
  await run(["login", "--url", served.url, "--key", served.owner.key]);
  const other = await run(["project", "list"], { BOX_URL: "http://127.0.0.1:1" });
  assert.equal(other.code, 2);
  assert.match(other.err, /the login is for http:\S+, not for http:\/\/127\.0\.0\.1:1/);
});

test("a login that others could read is made private, and one that is damaged is told", async (t) => {
  const { file, run } = person(t);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "{}", { mode: 0o644 });
  const broken = await run(["project", "list"]);
  assert.deepEqual(
    [broken.code, /is no login file: box login writes a new one/.test(broken.err)],
    [2, true],
  );
  await run(["login", "--url", served.url, "--key", served.owner.key]);
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

test("what can't be a login isn't kept", async (t) => {
  const { run } = person(t);
  const cases: [string[], RegExp][] = [
    [
      ["--key", "pti_x_y"],
      /--key is an ingest token \(pti_…\), which only sends events; what is needed/,
    ],
    [["--key", "secret"], /--key is no token of a box/],
    [["--code", "12"], /--code holds no pairing code/],
    [[], /--key or --code is needed/],
  ];
  for (const [words, says] of cases) {
    const { code, err } = await run(["login", "--url", served.url, ...words]);
    assert.equal(code, 2, err);
    assert.match(err, says);
  }
  const stranger = await run(["login", "--url", served.url, "--key", "ptk_x_stranger"]);
  assert.equal(stranger.code, 1);
  assert.equal((await run(["logout"])).out, "there was no login\n");
});
