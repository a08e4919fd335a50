/**
 * Does an executable do its job on a machine that has nothing else? It is started without PATH,
 * answers, refuses a foreign NODE_OPTIONS, and ends on SIGTERM as contract §11 says.
 *
 *   node systemd/smoke.mjs dist/box
 */
import { spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";

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
    box.kill("SIGTERM");
    expect(await ended, 0, "exit code after SIGTERM");
  } catch (error) {
    box.kill("SIGKILL");
    throw new Error(`${error.message}\n${output.join("")}`);
  } finally {
    clearTimeout(limit);
  }
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

function status(url) {
  return new Promise((resolve, reject) => {
    http.get(url, (answer) => resolve(answer.resume().statusCode)).once("error", reject);
  });
}

function expect(found, wanted, what) {
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

if (import.meta.main) {
  const { version } = JSON.parse(
    fs.readFileSync(new URL("../package.json", import.meta.url), "utf8"),
  );
  const command = process.argv
    .slice(2)
    .map((word) => (fs.existsSync(word) ? path.resolve(word) : word));
  await smoke(command, { version });
  process.stdout.write(`${process.argv.at(-1)}: starts, answers, ends\n`);
}
