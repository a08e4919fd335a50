import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { type TestBox, testBox } from "../support/box.ts";
import { realClock } from "../support/clock.ts";
import { box } from "../support/command-line.ts";
import { programFile } from "../support/program.ts";
import { scratch } from "../support/scratch.ts";
import { until } from "../support/until.ts";

const program = await programFile();
let served: TestBox;
let token: string;
before(async () => {
  served = await testBox({}, realClock());
  token = await served.project("p", { retain_logs: true });
});
after(() => served.stop());

const messages = async (): Promise<string[]> => {
  const { body } = await served.api("GET", "/v1/projects/p/logtail?limit=200");
  return body.messages.map((line: { message: string }) => line.message);
};

/** Waits for a retained line and says how long it took. */
async function arrives(message: string): Promise<number> {
  const start = performance.now();
  while (!(await messages()).includes(message))
    if (performance.now() - start > 20_000) throw new Error(`"${message}" never came`);
  return performance.now() - start;
}

function ingest(...words: string[]) {
  const env = { ...process.env, BOX_URL: served.url, BOX_TOKEN: token };
  return spawn(process.execPath, [program, "ingest", ...words], { env });
}

test("a pipe that stays open: each line leaves within a second of arriving", async (t) => {
  const child = ingest();
  t.after(() => child.kill());
  // What the program takes to start is not what a line takes.
  child.stdin.write("first\n");
  await arrives("first");
  for (const line of ["second", "third"]) {
    child.stdin.write(`${line}\n`);
    const took = await arrives(line);
    assert.ok(took < 1000, `${line} took ${took} ms`);
  }
  child.stdin.write("half a line, ");
  child.stdin.end("and its end");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  assert.match(out, /^4 of 4 lines accepted/, err);
  assert.equal((await messages()).at(-1), "half a line, and its end");
});

test("tail -f of a file, into the program", async (t) => {
  const file = join(scratch(t), "app.log");
  writeFileSync(file, "there before\n");
  const child = ingest();
  const tail = spawn("tail", ["-f", file], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => {
    tail.kill();
    child.kill();
  });
  tail.stdout.pipe(child.stdin);
  await arrives("there before");
  appendFileSync(file, "came later\n");
  await arrives("came later");
  tail.kill();
  await until(() => child.exitCode !== null, "it ends with its input");
  assert.equal(child.exitCode, 0);
});

test("a box that can't take lines yet is waited for, which is said once", async (t) => {
  let tries = 0;
  const busy = createServer((request, response) => {
    request.resume().on("end", () => {
      const error = { code: "overloaded", message: "The box is busy." };
      const taken = { accepted: 1, rejected: 0, results: [{ alerted: false }] };
      const isTaken = ++tries > 2;
      response.writeHead(isTaken ? 202 : 429).end(JSON.stringify(isTaken ? taken : { error }));
    });
  }).listen(0, "127.0.0.1");
  await once(busy, "listening");
  t.after(() => {
    busy.close();
    busy.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
  const { code, out, err } = await box(["ingest", "--url", url, "--token", "pti_a_b", "--json"], {
    input: "a line\n",
  });
  assert.equal(code, 0);
  assert.deepEqual([JSON.parse(out).accepted, JSON.parse(out).retries], [1, 2]);
  assert.equal(err, "box: the box refused them: The box is busy. Trying again\n");
});

test("without --level each line has the level that it says of itself", async (t) => {
  const served = await testBox();
  t.after(() => served.stop());
  await served.api("POST", "/v1/projects", { name: "p" });
  const source = { name: "s", retain_logs: true };
  const { token } = (await served.api("POST", "/v1/projects/p/sources", source)).body;
  const levels = async () => {
    const { messages } = (await served.api("GET", "/v1/projects/p/logtail")).body;
    return messages.map(({ level }: { level: number }) => level).sort();
  };
  const input = 'ERROR one\nlevel=warn two\n{"level":"fatal","msg":"three"}\nfour: no ERRORS\n';
  const send = (...words: string[]) =>
    box(["ingest", "--url", served.url, "--token", token, ...words], { input });
  assert.equal((await send()).code, 0);
  assert.deepEqual(await levels(), [200, 300, 400, 500]);
  await send("--level", "debug");
  assert.deepEqual(await levels(), [100, 100, 100, 100, 200, 300, 400, 500]);
});

test("box tail --follow of an older box, which doesn't know since, shows each new line once", async (t) => {
  const said: string[] = [];
  let asked = 0;
  const older = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? "", "http://box");
    const details = [{ field: "?since", reason: "is not known" }];
    const error = { code: "invalid_request", message: "?since is not known", details };
    if (searchParams.has("since")) return response.writeHead(400).end(JSON.stringify({ error }));
    asked += 1;
    const messages = Array.from({ length: asked }, (_, i) => ({
      id: String(i + 1),
      received_at: 1_767_603_600,
      level: 200,
      source: "web",
      message: `line ${i + 1}`,
    }));
    return response.writeHead(200).end(JSON.stringify({ messages }));
  }).listen(0, "127.0.0.1");
  await once(older, "listening");
  const url = `http://127.0.0.1:${(older.address() as AddressInfo).port}`;
  const env = { ...process.env, BOX_URL: url, BOX_KEY: "ptk_a_b" };
  const child = spawn(process.execPath, [program, "tail", "p", "--follow"], { env });
  t.after(() => {
    child.kill();
    older.close();
    older.closeAllConnections();
  });
  child.stdout.on("data", (text) => said.push(...`${text}`.trim().split("\n")));
  let err = "";
  child.stderr.on("data", (text) => (err += text));
  await until(() => said.length >= 3 || child.exitCode !== null, "three lines");
  const lines = said.map((line) => line.slice(line.indexOf("line ")));
  assert.deepEqual(lines.slice(0, 3), ["line 1", "line 2", "line 3"], err);
});
