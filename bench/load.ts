import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { hasCommand, percentile } from "./harness.ts";

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
  /** A new connection for each request. */
  close?: boolean;
  directory: string;
}

/** Closed loop by wrk: as fast as the server answers. */
export async function closedLoop(load: Load): Promise<LoadResult> {
  if (!hasCommand("wrk")) throw new Error("this scenario needs wrk (Debian's package wrk)");
  const script = join(load.directory, "load.lua");
  writeFileSync(script, lua(load));
  const args = ["-t1", `-c${load.connections}`, `-d${load.seconds}s`, "-s", script, load.url];
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
function lua({ headers, bodies, close, url }: Load): string {
  const path = new URL(url).pathname;
  const quoted = (text: string) => `[==[${text}]==]`;
  const head = Object.entries({ ...headers, ...(close ? { Connection: "close" } : {}) })
    .map(([name, value]) => `[ ${quoted(name)} ] = ${quoted(value)}`)
    .join(",");
  return `local bodies = {${bodies.map(quoted).join(",")}}
local requests, n = {}, 0
function init()
  for i, body in ipairs(bodies) do requests[i] = wrk.format("POST", ${quoted(path)}, {${head}}, body) end
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

interface Lane {
  socket: Socket;
  /** When the request was due that isn't answered yet. */
  due: number | null;
}

/** Open loop: `rate` a second whatever the server does, latency from when each was due. */
export async function openLoop(
  load: Load & { rate: number },
): Promise<{ p50: number; p99: number; max: number; errors: number }> {
  const { hostname, port, pathname } = new URL(load.url);
  const requests = load.bodies.map((body) => {
    const head = Object.entries({
      ...load.headers,
      "Content-Length": String(Buffer.byteLength(body)),
    }).map(([name, value]) => `${name}: ${value}`);
    return Buffer.from(
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\n${head.join("\r\n")}\r\n\r\n${body}`,
    );
  });
  const latencies: number[] = [];
  let errors = 0;
  const idle = new Set<Lane>();
  let ended = false;
  const open = async (): Promise<void> => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true });
    await once(socket, "connect");
    const lane: Lane = { socket, due: null };
    const answered = (due: number, isGood: boolean) => {
      lane.due = null;
      if (!isGood) errors++;
      latencies.push(performance.now() - due);
    };
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      answered(lane.due ?? 0, chunk.toString("latin1", 9, 12).startsWith("2"));
      idle.add(lane);
    });
    // A server closes what has been silent for long.
    socket.once("close", () => {
      idle.delete(lane);
      if (lane.due !== null) answered(lane.due, false);
      if (!ended) void open();
    });
    idle.add(lane);
  };
  await Promise.all(Array.from({ length: load.connections }, open));
  const begin = performance.now();
  const total = load.rate * load.seconds;
  for (let n = 0; n < total; ) {
    const now = performance.now();
    for (const lane of idle) {
      const due = begin + (n * 1000) / load.rate;
      if (n >= total || due > now) break;
      idle.delete(lane);
      lane.due = due;
      lane.socket.write(requests[n++ % requests.length] as Buffer);
    }
    await new Promise((next) => setImmediate(next));
  }
  while (latencies.length < total) await new Promise((next) => setTimeout(next, 5));
  ended = true;
  for (const { socket } of idle) socket.destroy();
  const counted = latencies.slice(Math.floor(total / 10));
  return {
    p50: percentile(counted, 50),
    p99: percentile(counted, 99),
    max: Math.max(...counted),
    errors,
  };
}
