import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { box } from "../support/command-line.ts";
import { needs } from "../support/commands.ts";

const script = async (shell: string) => (await box(["completion", shell])).out;

test("bash completes commands, sub-commands and flags", needs("bash"), async () => {
  const directory = mkdtempSync(join(tmpdir(), "box-completion-"));
  try {
    const file = join(directory, "box.bash");
    writeFileSync(file, await script("bash"));
    const complete = (...words: string[]) => {
      const run = `source ${file}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _box; echo "\${COMPREPLY[*]}"`;
      return execFileSync("bash", ["-c", run], { encoding: "utf8" }).trim().split(" ");
    };
    assert.ok(complete("box", "se").includes("serve"));
    assert.deepEqual(complete("box", "project", "re"), ["rename"]);
    assert.deepEqual(complete("box", "serve", "--public"), ["--public-url"]);
    assert.deepEqual(complete("box", "source", "add", "--ret"), ["--retain-logs"]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("zsh and fish get scripts of their own; another shell is wrong usage", async () => {
  assert.match(await script("zsh"), /^#compdef box\n/);
  assert.match(await script("fish"), /complete -c box -n '__box_at project' -f -a rename\n/);
  const wrong = await box(["completion", "tcsh"]);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /bash, zsh or fish/);
});
