import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { needs } from "../support/commands.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { blocks, documents, root, withBox } from "./document.ts";

const [block = ""] = blocks("README.md", "sh", "## First alert");

test(
  "the README's first alert, word for word, on a new box, whatever Node the shell finds",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async ({ url, home, shell }) => {
      assert.ok(block.includes("pair-code"));
      // As on a machine whose own Node is too old: only the installed one runs the program.
      writeFileSync(join(home, "node"), "#!/bin/sh\nexit 9\n", { mode: 0o755 });
      const { code, out, err } = await shell(
        block.replaceAll("http://127.0.0.1:8080", url),
        {},
        root,
      );
      assert.equal(code, 0, err);
      assert.match(out, /^me@example\.org \(owner\) at http/);
      assert.match(out, /"alerted":true/);
      assert.match(out, /1\s+open\s+error\s+1 .* shop\s+errors\s+payment 4711 failed after 30 s/);
      assert.match(out, /1\s+acknowledged/);
    }),
);

test(
  "the README's block stops at its first failure, and the shell that it was pasted into lives on",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async ({ shell }) => {
      // No box answers there.
      const dead = block.replaceAll("http://127.0.0.1:8080", "http://127.0.0.1:1");
      const script = dead.replaceAll("box login", "box login --url http://127.0.0.1:1");
      const { code, out, err } = await shell(`set +e\n${script}\necho "ended with $?"`, {}, root);
      assert.equal(code, 0);
      assert.equal(out, "ended with 1\n");
      assert.match(
        err,
        /^box: no answer from http:\/\/127\.0\.0\.1:1: nothing listens there\.[^\n]*\n$/,
      );
    }),
);

test(
  "what a new box prints makes the first seat, pasted into a terminal that stands elsewhere",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async ({ said, shell }) => {
      await until(() => said().includes("you@example.org\n"), "it says how");
      const lines = said()
        .split("\n")
        .filter((line) => line.startsWith("  "));
      assert.equal(lines.length, 3, said());
      assert.match(lines[1] ?? "", /^ {2}box quickstart --data '\S+' --url http:\S+$/);
      // Who is at no terminal can't be asked for a password.
      const pasted = `unset BOX_URL BOX_DATA\n${[lines[0], lines[2]].join("\n")} --password-file - <<< 'a long password'`;
      const { code, out, err } = await shell(pasted);
      assert.equal(code, 0, err);
      assert.match(out, /^you@example\.org \(owner\) at http/);
    }),
);

test("no document names the program in another way than `box`", () => {
  const others = ["README.md", ...documents].filter((document) =>
    /node cli\/box|npx box|\.\/box\b(?!-)/.test(readFileSync(join(root, document), "utf8")),
  );
  assert.deepEqual(others, []);
});

test("the launcher says what to do where nothing is installed", (t) => {
  const clone = scratch(t);
  mkdirSync(join(clone, "cli"));
  copyFileSync(join(root, "cli/box"), join(clone, "cli/box"));
  const { status, stderr } = spawnSync(join(clone, "cli/box"), ["alerts"], { encoding: "utf8" });
  assert.equal(status, 1);
  assert.match(stderr, /^box: nothing is installed here yet: run `npm start` /);
});
