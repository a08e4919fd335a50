import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const box = join(import.meta.dirname, "../../cli/box.ts");
const script = (shell: string) =>
  execFileSync(process.execPath, [box, "completion", shell], { encoding: "utf8" });

test("bash completes commands, sub-commands and flags", () => {
  const directory = mkdtempSync(join(tmpdir(), "box-completion-"));
  try {
    const file = join(directory, "box.bash");
    writeFileSync(file, script("bash"));
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

test("zsh and fish get scripts of their own; another shell is wrong usage", () => {
  assert.match(script("zsh"), /^#compdef box\n/);
  assert.match(script("fish"), /complete -c box -n '__box_at project' -f -a rename\n/);
  const wrong = spawnSync(process.execPath, [box, "completion", "tcsh"], { encoding: "utf8" });
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /bash, zsh or fish/);
});
