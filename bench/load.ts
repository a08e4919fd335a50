import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { hasCommand } from "./harness.ts";

export interface LoadResult {
  /** Good answers (2xx) a second. */
  rate: number;
  errors: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Part of one core that the generator used: near 1 it is the limit, and the figure is a floor. */
  generator: number;
}

export interface Load {
  url: string;
  headers: Record<string, string>;
  /** Sent in turn. */
  bodies: readonly string[];
  connections: number;
  seconds: number;
  /** Who sends each request, in turn. Default: `headers` say it. */
  tokens?: readonly string[] | undefined;
  /** A new connection for each request. */
  close?: boolean;
  directory: string;
}

/** Closed loop by wrk: as fast as the server answers. */
export async function closedLoop(load: Load): Promise<LoadResult> {
  if (!hasCommand("wrk")) throw new Error("this scenario needs wrk (Debian's package wrk)");
  const script = join(load.directory, "load.lua");
  writeFileSync(script, lua(load));
  const how = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "--timeout", "10s"];
  const args = [...how, "-s", script, load.url];
  const { stdout } = await promisify(execFile)(
    "/usr/bin/env",
    [
      "bash",
      "-c",
      `TIMEFORMAT='cpu %U %S'; time wrk ${args.map((arg) => `'${arg}'`).join(" ")} 2>&1`,
    ],
    { shell: false },
  ).then(({ stdout: out, stderr }) => ({ stdout: out + stderr }));
  const read = (name: string) =>
    Number(new RegExp(`^${name} ([\\d.]+)`, "m").exec(stdout)?.[1] ?? Number.NaN);
  const cpu = /cpu ([\d.]+) ([\d.]+)/.exec(stdout);
  return {
    rate: (read("requests") - read("bad")) / read("seconds"),
    errors: read("bad"),
    p50: read("p50") / 1000,
    p99: read("p99") / 1000,
    generator: (Number(cpu?.[1]) + Number(cpu?.[2])) / load.seconds,
  };
}

/** The requests are made beforehand, so that sending one costs a look-up; `done` prints what is read above. */
function lua({ headers, bodies, tokens = [], close, url }: Load): string {
  const path = new URL(url).pathname;
  const quoted = (text: string) => `[==[${text}]==]`;
  const head = Object.entries({ ...headers, ...(close ? { Connection: "close" } : {}) })
    .map(([name, value]) => `[ ${quoted(name)} ] = ${quoted(value)}`)
    .join(",");
  return `local bodies = {${bodies.map(quoted).join(",")}}
local tokens = {${tokens.map(quoted).join(",")}}
local requests, n = {}, 0
function init()
  for i, body in ipairs(bodies) do
    local headers = {${head}}
    if #tokens > 0 then headers["Authorization"] = "Bearer " .. tokens[i % #tokens + 1] end
    requests[i] = wrk.format("POST", ${quoted(path)}, headers, body)
  end
end
function request() n = n % #requests + 1; return requests[n] end
function done(summary, latency)
  local e = summary.errors
  print("requests " .. summary.requests)
  print("bad " .. (e.status + ${close ? 0 : "e.read"} + e.write + e.timeout + e.connect))
  print("seconds " .. summary.duration / 1e6)
  print("p50 " .. latency:percentile(50))
  print("p99 " .. latency:percentile(99))
end`;
}

/** Milliseconds from when each request was due until its answer. */
export interface OpenResult {
  p50: number;
  p99: number;
  max: number;
  /** p99 of the warm-up, which the others leave out. */
  warmP99: number;
  errors: number;
}

/**
 * The generator's turns make garbage. It collects seldom and in one thread: by default it did so a hundred times a
 * second, with threads that take the server's core.
 */
const GENERATOR = [
  "--single-threaded-gc",
  "--min-semi-space-size=64",
  "--max-semi-space-size=64",
  fileURLToPath(import.meta.resolve("./open-loop.ts")),
];

/**
 * Open loop: `rate` a second whatever the server does, by a process of its own. What is due in the first `warm` seconds,
 * or without them in the first tenth, isn't counted.
 */
export async function openLoop(
  load: Omit<Load, "tokens"> & { rate: number; warm?: number },
): Promise<OpenResult> {
  const child = spawn(process.execPath, GENERATOR, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(JSON.stringify(load));
  const [found, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`the open loop ended with ${code}`);
  return JSON.parse(found) as OpenResult;
}
