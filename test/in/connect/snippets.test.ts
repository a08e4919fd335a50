import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Snippet, snippetsOf } from "../../../src/in/connect/snippets.ts";
import { testBox } from "../../support/box.ts";
import { long, test } from "../../support/long.ts";
import { scratch } from "../../support/scratch.ts";

const { setTimeout: pause } = process.getBuiltinModule("node:timers/promises");

/** A box, its snippets, and the messages that it received. */
async function story(t: TestContext) {
  const box = await testBox();
  t.after(() => box.stop());
  const token = await box.project("shop", { retain_logs: true });
  const all = snippetsOf({ base: box.url, token });
  const textOf = (id: Snippet["id"]) => all.find((one) => one.id === id)?.text ?? "";
  const heard = async (): Promise<string[]> => {
    const { body } = await box.api("GET", "/v1/projects/shop/logtail");
    return body.messages.map(({ message }: { message: string }) => message);
  };
  return { all, textOf, heard };
}

/** Runs a command without blocking this process, because the box that answers is in it. */
function run(command: string, args: string[], t: TestContext): Promise<number | null> {
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  return new Promise((resolve) => child.on("close", (code) => resolve(code)));
}

const has = (command: string) => spawnSync(command, ["--version"]).error === undefined;

long("the snippets for a shell, Node and Python send their event", async (t) => {
  const { textOf, heard } = await story(t);
  const dir = scratch(t);
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  assert.equal(await run(process.execPath, [file("send.mjs", textOf("node"))], t), 0);
  let sent = 1;
  if (has("curl")) {
    assert.equal(await run("sh", ["-c", textOf("curl")], t), 0);
    sent++;
  } else t.diagnostic("no curl here");
  if (has("python3")) {
    assert.equal(await run("python3", [file("send.py", textOf("python"))], t), 0);
    sent++;
  } else t.diagnostic("no python3 here");
  if (has("go")) {
    assert.equal(await run("go", ["run", file("main.go", textOf("go"))], t), 0);
    sent++;
  } else t.diagnostic("no go here");
  assert.deepEqual(await heard(), Array(sent).fill("payment 4711 failed after 30 s"));
});

long("the snippet for a log file sends any line that is written to it", async (t) => {
  if (!has("python3")) return t.skip("no python3 here");
  const { textOf, heard } = await story(t);
  const log = join(scratch(t), "app.log");
  writeFileSync(log, "before\n");
  const text = textOf("file").replace("/var/log/app.log", log);
  // In its own process group, so that the whole pipe ends with it.
  const child = spawn("sh", ["-c", text], { detached: true, stdio: "ignore" });
  t.after(() => process.kill(-(child.pid as number), "SIGKILL"));
  const line = `it's "down" at \\ 100 % {ü}`;
  for (let tries = 0; !(await heard()).includes(line); tries++) {
    assert.ok(tries < 600, "nothing was heard");
    // Lines that are appended before it follows the file are not sent.
    appendFileSync(log, `${line}\n`);
    await pause(50);
  }
  assert.ok(!(await heard()).includes("before"));
});

test("each snippet is complete, without a placeholder", async (t) => {
  const { all } = await story(t);
  assert.deepEqual(
    all.map(({ id }) => id),
    ["curl", "node", "python", "go", "logger", "file"],
  );
  for (const { id, text } of all) {
    assert.match(text, /http:\/\/127\.0\.0\.1:\d+\/v1\/ingest/, id);
    assert.match(text, /pti_\w+/, id);
    assert.doesNotMatch(text, /<[A-Z]|YOUR|\.\.\./, id);
  }
});
