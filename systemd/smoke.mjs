/**
 * Does an executable do its job on a machine that has nothing else? It is started without PATH,
 * answers, refuses a foreign NODE_OPTIONS, has what it carries compressed, and ends on SIGTERM as contract §11 says.
 * Called by hand it also holds the executable's size against a bound.
 *
 *   node systemd/smoke.mjs dist/box
 */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { stripSymbols } from "./elf.mjs";

/**
 * What an executable may have beside Node: it had 8.0 MB when this was written, 9.16 MB with the protocol of assistants (0.35 of it),
 * 9.33 MB with rules for what is missing, 10.57 MB with the code of all that a start runs and a second machine, some 10.67 with hosted tenants on several nodes, 10.81 with the program in two parts,
 * 11.64 in four, with the code of what a box runs soon after it listens, 11.88 with the code of what opens its store.
 */
const MOST_OWN_BYTES = 11_900_000;

/**
 * `command`: the words that start the executable, an emulator before them where it is for another
 * processor. `seconds`: how long each step may take. Throws on the first thing that isn't so.
 */
export async function smoke(command, { version, seconds = 20 }) {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "box-smoke-"));
  try {
    const env = {
      BOX_CACHE_DIR: path.join(home, "cache"),
      // An executable that obeyed this would not start: there is no such module.
      NODE_OPTIONS: "--require=/nonexistent.js",
      ...(process.env.QEMU_LD_PREFIX ? { QEMU_LD_PREFIX: process.env.QEMU_LD_PREFIX } : {}),
    };
    const said = spawnSync(command[0], [...command.slice(1), "--version"], { env, cwd: "/" });
    expect(`${said.stdout}`.trim(), version, `--version (${said.stderr})`);
    await serves(command, { env, data: path.join(home, "data"), seconds });
    const extracted = fs.readdirSync(env.BOX_CACHE_DIR);
    expect(extracted.length, 1, "files in the cache directory");
  } finally {
    fs.rmSync(home, { recursive: true, force: true });
  }
}

async function serves(command, { env, data, seconds }) {
  const words = [...command.slice(1), "serve", "--data", data, "--listen", "127.0.0.1:0"];
  const box = spawn(command[0], words, { env, cwd: "/", stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => box.once("exit", resolve));
  const output = [];
  for (const stream of [box.stdout, box.stderr]) stream.on("data", (text) => output.push(text));
  const limit = setTimeout(() => box.kill("SIGKILL"), seconds * 1000);
  try {
    const url = await Promise.race([listening(box.stdout), ended.then(() => null)]);
    if (url === null) throw new Error("it ended before it listened");
    expect(await status(`${url}/healthz`), 200, "GET /healthz");
    expect(await status(`${url}/v1/projects`), 401, "GET /v1/projects without a key");
    const odd = await call("GET", `${url}/healthz`, { headers: ["__proto__", "x", "host", "box"] });
    expect(odd.status, 200, "GET /healthz with a header called __proto__");
    await sendsFiles(url);
    await startsThreads(url, codeFor(command, { env, data }));
    box.kill("SIGTERM");
    expect(await ended, 0, "exit code after SIGTERM");
    const isRefused = output.join("").includes("code cache");
    expect(isRefused, false, "a part's compiled code that the runtime refuses");
  } catch (error) {
    box.kill("SIGKILL");
    throw new Error(`${error.message}\n${output.join("")}`);
  } finally {
    clearTimeout(limit);
  }
}

/** A browser's files lie compressed in it, and are sent unpacked to whoever takes no compression. */
async function sendsFiles(url) {
  const page = await call("GET", `${url}/signin`, { headers: { accept: "text/html" } });
  const style = `${url}${/href="([^"]+console\.css)"/.exec(page.body)?.[1]}`;
  const plain = await call("GET", style);
  const small = await call("GET", style, { headers: { "accept-encoding": "gzip" } });
  expect(plain.status, 200, `GET ${style}`);
  expect(small.headers["content-encoding"], "gzip", "its encoding");
  expect(plain.bytes.equals(gunzipSync(small.bytes)), true, "the same unpacked");
  expect(plain.body.includes("{"), true, "rules in it");
}

function codeFor([program, ...words], { env, data }) {
  const said = spawnSync(program, [...words, "pair-code", "--json", "--data", data], { env });
  return JSON.parse(`${said.stdout}`).code;
}

/** A report and a rule's dry run are worked on by threads, whose programs it unpacks. */
async function startsThreads(url, code) {
  const who = { code, email: "smoke@example.org", password: "smoke and mirrors" };
  const { api_key } = await made(`${url}/v1/pair`, who);
  await servesAssistants(url, api_key);
  const project = `${url}/v1/projects/smoke`;
  await made(`${url}/v1/projects`, { name: "smoke" }, api_key);
  const report = await made(`${project}/reports`, { title: "Smoke" }, api_key);
  const entry = { content_md: "*up*" };
  const preview = () => made(`${project}/reports/${report.id}/preview`, entry, api_key);
  // A thread has little time, of which its start takes most in an emulator on a busy machine.
  const shown = await preview().catch(preview).catch(preview);
  expect(shown.content_html.trim(), "<p><em>up</em></p>", "a report's entry");
  const tried = { rule: { name: "any" }, lines: ["up"] };
  const found = await made(`${project}/rules/dry-run`, tried, api_key);
  expect(found.matched, 1, "lines that a rule matches");
}

async function servesAssistants(url, key) {
  const headers = { authorization: `Bearer ${key}` };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
  const { status, body: said } = await call("POST", `${url}/mcp`, { headers, body });
  expect(status, 200, "POST /mcp");
  expect(said.includes('"name":"dry_run"'), true, "an assistant's tools");
}

async function made(url, body, key) {
  const headers = {
    "content-type": "application/json",
    ...(key && { authorization: `Bearer ${key}` }),
  };
  const answer = await call("POST", url, { headers, body: JSON.stringify(body) });
  if (answer.status > 201) throw new Error(`POST ${url}: ${answer.status} ${answer.body}`);
  return JSON.parse(answer.body);
}

function listening(stream) {
  return new Promise((resolve) => {
    let text = "";
    stream.on("data", (more) => {
      text += more;
      const found = /listening on (\S+)/.exec(text);
      if (found) resolve(found[1]);
    });
  });
}

const status = async (url) => (await call("GET", url)).status;

function call(method, url, { headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    // A connection of its own: while a command is waited for, the box may close one that is kept.
    const asked = http.request(url, { method, headers, agent: false }, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => {
        const bytes = Buffer.concat(parts);
        const { statusCode, headers: found } = answer;
        resolve({ status: statusCode, headers: found, bytes, body: `${bytes}` });
      });
    });
    asked.once("error", reject);
    asked.end(body);
  });
}

function expect(found, wanted, what) {
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(
    fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  const command = process.argv
    .slice(2)
    .map((word) => (fs.existsSync(word) ? path.resolve(word) : word));
  await smoke(command, { version });
  const runtime = new URL("../node_modules/.bin/node", import.meta.url);
  const node = stripSymbols(fs.readFileSync(runtime)).length;
  const own = fs.statSync(command.at(-1)).size - node;
  if (own > MOST_OWN_BYTES)
    throw new Error(`it has ${own} bytes beside Node, more than ${MOST_OWN_BYTES}`);
  process.stdout.write(`${process.argv.at(-1)}: starts, answers, ends\n`);
}
