import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { quick } from "../support/children.ts";
import { needs } from "../support/commands.ts";
import { long, test } from "../support/long.ts";
import { firstKey, serve } from "../support/process.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";
import { blocks, documents, root, seatByLink, withBox } from "./document.ts";

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
        quick,
        root,
      );
      assert.equal(code, 0, err);
      assert.match(out, /^me@example\.org \(owner\) at http/);
      assert.match(out, /"alerted":true/);
      assert.match(out, /1\s+open\s+error\s+1 .* shop\s+errors\s+payment 4711 failed after 30 s/);
      assert.match(out, /\n1 alert acknowledged/);
    }),
);

long(
  "the README's block stops at its first failure, and the shell that it was pasted into lives on",
  needs("bash", "curl", "sed"),
  () =>
    withBox(async ({ shell }) => {
      // No box answers there.
      const dead = block.replaceAll("http://127.0.0.1:8080", "http://127.0.0.1:1");
      const script = dead.replaceAll("box login", "box login --url http://127.0.0.1:1");
      const { code, out, err } = await shell(
        `set +e\n${script}\necho "ended with $?"`,
        quick,
        root,
      );
      assert.equal(code, 0);
      assert.equal(out, "ended with 1\n");
      assert.match(
        err,
        /^box: no answer from http:\/\/127\.0\.0\.1:1: nothing listens there\.[^\n]*\n$/,
      );
    }),
);

long(
  "what a new box prints leads, pasted into a terminal that stands elsewhere, to the first steps in a browser",
  needs("bash"),
  () =>
    withBox(async ({ url, said, shell }) => {
      await until(() => /box quickstart .*\n/.test(said()), "it says how");
      const lines = said()
        .split("\n")
        .filter((line) => line.startsWith("  "));
      assert.equal(lines.length, 3, said());
      assert.match(lines[2] ?? "", /^ {2}box quickstart --data \S+ --url http:\S+$/);
      const pasted = `unset BOX_URL BOX_DATA\n${lines.slice(0, 2).join("\n")}`;
      const { code, out, err } = await shell(pasted);
      assert.equal(code, 0, err);
      const seat = await seatByLink(out, {
        email: "you@example.org",
        password: "a long password",
      });
      assert.equal(seat.headers.get("location"), "/welcome");
      const cookie = seat.headers.get("set-cookie")?.split(";")[0] ?? "";
      const first = await fetch(`${url}/welcome`, {
        headers: { accept: "text/html", cookie },
      });
      assert.equal(first.status, 200);
      assert.match(await first.text(), /Make a phone ring/);
    }),
);

test("a box that has people says where to sign in, and one without pages nothing of them", async (t) => {
  const data = scratch(t);
  const bare = await serve(t, data, "--no-console");
  await until(() => /box quickstart .*\n/.test(bare.said()), "it says how");
  assert.doesNotMatch(bare.said(), /browser|pair-code/);
  await firstKey(bare, data);
  await bare.end("SIGTERM");
  const old = await serve(t, data);
  await until(() => old.said().includes("/signin\n"), "it says where");
  assert.equal(
    old.said(),
    `listening on ${old.url}\nto see it in a browser, sign in at ${old.url}/signin\n`,
  );
  const page = await fetch(`${old.url}/signin`, { headers: { accept: "text/html" } });
  assert.match(await page.text(), /<button class="button">Sign in</);
  await old.end("SIGTERM");
  const quiet = await serve(t, data, "--no-console");
  await quiet.end("SIGTERM");
  assert.equal(quiet.said(), `listening on ${quiet.url}\n`);
});

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
