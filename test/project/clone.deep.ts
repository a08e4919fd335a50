import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { needs } from "../support/commands.ts";
import { scratch } from "../support/scratch.ts";

/*
 * A clone is upgraded and taken back as docs/operating.md says: `git checkout`, `npm start`. The newer version is this
 * one with one migration more.
 */
const root = join(import.meta.dirname, "../..");

function cloned(t: TestContext) {
  const home = scratch(t);
  const tree = join(home, "box");
  const run = (program: string, ...words: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, words, {
      cwd: program === "git" && words[0] === "clone" ? home : tree,
      encoding: "utf8",
    });
    return { status, said: `${stdout}${stderr}` };
  };
  const git = (...words: string[]) => {
    const { status, said } = run("git", ...words);
    assert.equal(status, 0, said);
  };
  git("clone", "--quiet", root, "box");
  // What is installed is the same for both versions.
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  git("config", "user.email", "test@example.org");
  git("config", "user.name", "Test");
  git("tag", "v1");
  const newest = readdirSync(join(tree, "migrations/box")).sort().at(-1) ?? "";
  const schema = Number(newest.slice(0, 4));
  const name = `${String(schema + 1).padStart(4, "0")}_next.sql`;
  writeFileSync(join(tree, "migrations/box", name), "CREATE TABLE next (id INTEGER) STRICT;\n");
  git("add", "migrations");
  git("commit", "--quiet", "--message", "A newer version");
  git("tag", "v2");
  return { tree, schema, run, git };
}

/** `npm start`: its address once it listens, or how it ended before. */
async function started(t: TestContext, tree: string) {
  const box = spawn("npm", ["start", "--", "--listen", "127.0.0.1:0"], {
    cwd: tree,
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => box.kill("SIGKILL"));
  let said = "";
  const ended = new Promise<number | null>((resolve) => box.once("exit", resolve));
  for (const stream of [box.stdout, box.stderr]) stream.on("data", (text) => (said += text));
  const listens = new Promise<string>((resolve) =>
    box.stdout.on("data", () => {
      const url = /listening on (\S+)/.exec(said)?.[1];
      if (url !== undefined) resolve(url);
    }),
  );
  const url = await Promise.race([listens, ended.then(() => null)]);
  return {
    url,
    said: () => said,
    stop: () => {
      // npm hands on what it is told.
      if (url !== null) box.kill("SIGTERM");
      return ended;
    },
  };
}

test(
  "a clone is upgraded by git and npm start, and goes back to what it was before",
  needs("git", "npm"),
  async (t) => {
    const { tree, schema, run, git } = cloned(t);
    const box = join(tree, "dist/box");
    git("checkout", "--quiet", "v1");
    const first = await started(t, tree);
    assert.ok(first.url, first.said());
    const code = run(box, "pair-code", "--json");
    const who = { email: "ada@example.org", password: "correct horse battery" };
    const post = async (path: string, body: object, key = "") => {
      const answer = await fetch(first.url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as Record<string, string>;
    };
    const paired = await post("/v1/pair", { code: JSON.parse(code.said).code, ...who });
    const key = paired["api_key"] ?? assert.fail(JSON.stringify(paired));
    await post("/v1/projects", { name: "before" }, key);
    await first.stop();

    git("checkout", "--quiet", "v2");
    const newer = await started(t, tree);
    assert.ok(newer.url, newer.said());
    const projects = async (url: string) => {
      const answer = await fetch(`${url}/v1/projects`, {
        headers: { authorization: `Bearer ${key}` },
      });
      const { projects } = (await answer.json()) as { projects: { name: string }[] };
      return projects.map(({ name }) => name);
    };
    assert.deepEqual(await projects(newer.url), ["before"]);
    await newer.stop();
    assert.equal(JSON.parse(run(box, "status", "--json").said).schema, schema + 1);

    git("checkout", "--quiet", "v1");
    const refused = await started(t, tree);
    assert.equal(refused.url, null);
    assert.equal(await refused.stop(), 78, refused.said());
    const copy = `box-data/box.db.schema-${schema}`;
    const restored = run(box, "restore", copy, "--replace");
    assert.equal(restored.status, 0, restored.said);
    const again = await started(t, tree);
    assert.ok(again.url, again.said());
    assert.deepEqual(await projects(again.url), ["before"]);
    await again.stop();
  },
);
