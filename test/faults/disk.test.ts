import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type BoxProcess, boxProcess } from "../support/box-process.ts";
import { program } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";

/*
 * Small disks are mounted in a namespace of this file's own, where even a user without rights may: the
 * file runs itself there.
 */
const INSIDE = "BOX_TEST_NAMESPACE";
const enter = process.getuid?.() === 0 ? ["-m"] : ["-rm"];

if (process.env[INSIDE] === undefined) {
  const can =
    spawnSync("unshare", [...enter, "mount", "-t", "tmpfs", "none", tmpdir()]).status === 0;
  const isDue = can || (process.env["CI"] !== undefined && process.platform === "linux");
  const skip = isDue ? false : "no namespace to mount a small disk in";
  test("on a disk of its own", { skip }, (t) => {
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const self = [
      ...enter,
      process.execPath,
      "--test",
      "--test-reporter=spec",
      import.meta.filename,
    ];
    const { status, stdout } = spawnSync("unshare", self, {
      env: { ...env, [INSIDE]: "1" },
      encoding: "utf8",
    });
    t.diagnostic(stdout);
    assert.equal(status, 0, stdout);
  });
} else {
  test("a full disk: events refused, acks and pages go on, and all by itself again", fullDisk);
  test("a start on a full disk after a kill comes up and pages", (t) => startOnFull(t, "kill"));
  test("a start on a full disk after a stop comes up and pages", (t) => startOnFull(t, "stop"));
  test("a disk that is mounted read-only is one plain sentence", readOnly);
}

const MiB = 1024 * 1024;

/** A disk of this many MiB with a directory for a box on it. */
function disk(t: TestContext, size: number): { at: string; data: string } {
  const at = mkdtempSync(join(tmpdir(), "box-disk-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}m`, "none", at]);
  t.after(() => {
    execFileSync("umount", ["-l", at]);
    rmSync(at, { recursive: true });
  });
  const data = join(at, "data");
  mkdirSync(data, { mode: 0o700 });
  return { at, data };
}

/** Writes until nothing fits any more. */
function fill(at: string): void {
  const fd = openSync(join(at, "filling"), "a");
  for (let size = MiB; size >= 1; ) {
    try {
      writeSync(fd, Buffer.alloc(size));
    } catch {
      size = Math.floor(size / 2);
    }
  }
  closeSync(fd);
}

const free = (at: string) => rmSync(join(at, "filling"));
const event = (n: string) => ({ message: "the till is stuck", keys: { n } });

async function fullDisk(t: TestContext): Promise<void> {
  const { at, data } = disk(t, 24);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = boxProcess(await program(), data);
  t.after(() => box.discard());
  await box.start();
  const token = await box.project("shop", receiver.url);
  assert.equal((await box.ingest(token, event("1"))).status, 202);
  await receiver.next();
  while (!existsSync(join(data, "ballast"))) await sleep(50);

  fill(at);
  const accepted = ["1", ...(await refusedSoon(box, token))];
  // An acknowledgement is written and its message goes out: the ballast makes room.
  assert.equal((await box.api.call("POST", "/v1/alerts/1/ack")).status, 200);
  const isAck = ({ body }: { body: string }) => body.includes('"alert.acknowledged"');
  while (!receiver.received.some(isAck)) await receiver.next();
  await pagesOnFullDisk(box.url);
  fill(at);
  const from = performance.now();
  const refused = await box.ingest(token, event("late"));
  assert.equal(refused.status, 429);
  assert.ok(performance.now() - from < 5000, "a refusal took seconds");
  const alerts = (await box.api.need("GET", "/v1/alerts?project=shop"))["alerts"];
  assert.equal((alerts as unknown[]).length, accepted.length);

  free(at);
  const freed = performance.now();
  while ((await box.ingest(token, event("again"))).status !== 202) await sleep(50);
  assert.ok(
    performance.now() - freed < 20_000,
    `${performance.now() - freed} ms until events were taken`,
  );
  assert.equal((await box.stop()).code, 0, "it was the same process all the time");
  await box.start();
  const { messages } = await box.api.need("GET", "/v1/projects/shop/logtail?limit=200");
  const stored = (messages as { keys: { n: string } }[]).map(({ keys }) => keys.n);
  assert.deepEqual(stored, [...accepted, "again"]);
}

/** AC-21.4: sign-in, reading, an acknowledgement and the page that says what is wrong. */
async function pagesOnFullDisk(url: string): Promise<void> {
  const cookie = await signIn(url);
  const headers = { accept: "text/html", cookie };
  for (const path of ["/alerts", "/a/1", "/a/1/lines", "/system", "/system#check-disk", "/audit"]) {
    const page = await fetch(url + path, { headers });
    assert.equal(page.status, 200, path);
    const text = await page.text();
    if (!path.startsWith("/system")) continue;
    assert.match(text, /id="check-disk"[\s\S]*?[Nn]early full/);
    assert.match(text, /<div id="bar"[\s\S]*?href="\/system#check-disk"/);
  }
  for (const [form, state] of [
    ["unack", "open"],
    ["ack", "acknowledged"],
  ] as const) {
    const answer = await fetch(`${url}/a/1/${form}`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ id: "1" }),
      headers: { ...headers, origin: url, referer: `${url}/a/1` },
    });
    assert.equal(answer.status, 303, await answer.text());
    const page = await (await fetch(`${url}/a/1`, { headers })).text();
    assert.match(page, new RegExp(`state state-${state === "open" ? "open" : "ack"}`));
  }
}

/** As a browser does with the form; the session's cookie. */
async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/signin`, {
    method: "POST",
    redirect: "manual",
    headers: { accept: "text/html", origin: url },
    body: new URLSearchParams({ email: "owner@example.org", password: "correct horse battery" }),
  });
  assert.equal(answer.status, 303, await answer.text());
  const [cookie = ""] = (answer.headers.get("set-cookie") ?? "").split(";");
  assert.match(cookie, /^box=[0-9A-Za-z]{43}$/);
  return cookie;
}

/** Sends events until one is refused with 429; those that were taken before. */
async function refusedSoon(box: BoxProcess, token: string): Promise<string[]> {
  const taken: string[] = [];
  for (let i = 0; i < 500; i++) {
    const { status } = await box.ingest(token, event(`f${i}`));
    if (status === 429) return taken;
    assert.equal(status, 202);
    taken.push(`f${i}`);
  }
  throw new Error("the disk is full and events are still taken");
}

async function startOnFull(t: TestContext, end: "kill" | "stop"): Promise<void> {
  const { at, data } = disk(t, 24);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const box = boxProcess(await program(), data);
  t.after(() => box.discard());
  await box.start();
  const token = await box.project("shop", receiver.url);
  while (!existsSync(join(data, "ballast"))) await sleep(50);
  await receiver.close();
  assert.equal((await box.ingest(token, event("1"))).status, 202);
  await box[end]();
  fill(at);
  const again = await startReceiver({ port: receiver.port });
  t.after(() => again.close());
  await box.start();
  assert.match((await again.next()).body, /"alert.opened"/);
  assert.equal((await box.ingest(token, event("2"))).status, 429);
  assert.equal((await box.api.call("POST", "/v1/alerts/1/ack")).status, 200);
}

async function readOnly(t: TestContext): Promise<void> {
  const { at, data } = disk(t, 24);
  const words = await program();
  const box = boxProcess(words, data);
  t.after(() => box.discard());
  await box.start();
  await box.stop();
  execFileSync("mount", ["-o", "remount,ro", at]);
  const [command, ...before] = words;
  const end = spawnSync(command, [...before, "serve", "--data", data, "--listen", "127.0.0.1:0"], {
    encoding: "utf8",
  });
  assert.equal(end.status, 74);
  assert.match(end.stderr, /^box: [^\n]+read-only[^\n]*\n$/);
  assert.equal(end.stdout, "");
}
