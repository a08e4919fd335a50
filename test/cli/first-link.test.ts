import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { needs } from "../support/commands.ts";
import { serve } from "../support/process.ts";
import { programFile } from "../support/program.ts";
import { until } from "../support/until.ts";

const LINK = /http:\/\/127\.0\.0\.1:\d+\/pair#code=[0-9a-f]{48}/;

/** A box that a person starts: `script` gives it a terminal. What stands there. */
function onTerminal(t: TestContext, words: readonly string[]): () => string {
  const line = [process.execPath, ...words].map((word) => `'${word}'`).join(" ");
  const child = spawn("script", ["-qec", `exec ${line}`, "/dev/null"]);
  let shown = "";
  child.stdout.on("data", (data) => (shown += data));
  const gone = new Promise<void>((resolve) => child.on("exit", () => resolve()));
  t.after(async () => {
    child.kill("SIGTERM");
    await gone;
  });
  return () => shown;
}

test(
  "a new box shows whoever sits at its terminal a link that makes the owner, and writes none into a journal",
  needs("script"),
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), "box-first-link-"));
    t.after(() => rmSync(root, { recursive: true }));
    const data = join(root, "seen");
    const listen = ["--listen", "127.0.0.1:0"];
    const shown = onTerminal(t, [await programFile(), "serve", "--data", data, ...listen]);
    await until(() => LINK.test(shown()), "a link");
    const [link = ""] = LINK.exec(shown()) ?? [];
    const { origin, hash } = new URL(link);
    const pair = (email: string) =>
      fetch(`${origin}/v1/pair`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ code: hash.slice(6), email, password: "correct horse" }),
      });
    const made = await pair("ann@example.org");
    const { api_key: key } = (await made.json()) as { api_key: string };
    const headers = { authorization: `Bearer ${key}` };
    const { accounts } = (await (await fetch(`${origin}/v1/accounts`, { headers })).json()) as {
      accounts: { email: string; role: string }[];
    };
    assert.deepEqual(
      accounts.map(({ email, role }) => [email, role]),
      [["ann@example.org", "owner"]],
    );
    assert.equal((await pair("bob@example.org")).status, 401, "it is good once");
    const quiet = await serve(t, join(root, "quiet"));
    await until(() => /no account yet[\s\S]*pair-code/.test(quiet.said()), "how to make one");
    assert.doesNotMatch(quiet.said() + quiet.log(), /code=/);
  },
);
