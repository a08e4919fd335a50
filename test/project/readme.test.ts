import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");

/** The shell block under a heading of the README. */
function block(heading: string): string {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const section = text.slice(text.indexOf(`## ${heading}`));
  return /```sh\n([\s\S]*?)```/.exec(section)?.[1] ?? "";
}

test("the README's first alert, word for word, on a new box", async () => {
  const data = mkdtempSync(join(tmpdir(), "box-readme-"));
  const env = {
    ...process.env,
    BOX_DATA: data,
    PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
  };
  const box = spawn(process.execPath, ["cli/box.ts", "serve", "--listen", "127.0.0.1:0"], {
    cwd: root,
    env,
  });
  try {
    const url = await new Promise<string>((resolve, reject) => {
      box.once("exit", (code) => reject(new Error(`the box ended with ${code}`)));
      box.stdout.on("data", (chunk: Buffer) => {
        const line = /listening on (\S+)/.exec(chunk.toString());
        if (line?.[1]) resolve(line[1]);
      });
    });
    const script = block("First alert").replaceAll("http://127.0.0.1:8080", url);
    assert.ok(script.includes("pair-code"));
    const run = spawnSync("bash", ["-euc", script], {
      cwd: root,
      env: { ...env, BOX_URL: url },
      encoding: "utf8",
    });
    assert.equal(run.status, 0, run.stderr);
    assert.match(run.stdout, /"alerted":true/);
    assert.match(
      run.stdout,
      /1\s+open\s+error\s+1 .* shop\s+errors\s+payment <\*> failed after <\*>/,
    );
    assert.match(run.stdout, /1\s+acknowledged/);
  } finally {
    box.kill();
    await new Promise((ended) => box.once("exit", ended));
    rmSync(data, { recursive: true, force: true });
  }
});
