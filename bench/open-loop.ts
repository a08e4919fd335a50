import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { json } from "node:stream/consumers";
import type { Load, OpenResult } from "./load.ts";

// One open loop: reads its load as JSON, prints what it measured as JSON (`openLoop` starts it).

interface Lane {
  socket: Socket;
  /** When the request was due that isn't answered yet. */
  due: number | null;
}

/** Between turns it leaves its core to the server: a turn that waits for nothing takes all of it. */
const PAUSE_MS = 0.05;
const nobody = new Int32Array(new SharedArrayBuffer(4));

const load = (await json(process.stdin)) as Load & { rate: number; warm?: number };
process.stdout.write(JSON.stringify(await run(load)));

async function run({
  rate,
  warm = 0,
  seconds,
  connections,
  ...to
}: typeof load): Promise<OpenResult> {
  const requests = rawRequests(to);
  const total = Math.round(rate * (seconds + warm));
  const latencies = new Float64Array(total);
  const idle = new Set<Lane>();
  let sent = 0;
  let answers = 0;
  let errors = 0;
  const open = async (): Promise<void> => {
    const answered = (isGood: boolean) => {
      if (!isGood) errors++;
      latencies[answers++] = performance.now() - (lane.due ?? 0);
      lane.due = null;
      idle.add(lane);
    };
    const lane: Lane = { socket: openSocket(to.url, answered), due: null };
    lane.socket.on("error", () => {});
    await once(lane.socket, "connect");
    // A server closes what has been silent for long.
    lane.socket.once("close", () => {
      if (lane.due !== null) answered(false);
      idle.delete(lane);
      if (answers < total) void open();
    });
    idle.add(lane);
  };
  await Promise.all(Array.from({ length: connections }, open));
  const begin = performance.now();
  await new Promise<void>((done) => {
    const turn = () => {
      const now = performance.now();
      for (const lane of idle) {
        const due = begin + (sent * 1000) / rate;
        if (sent >= total || due > now) break;
        idle.delete(lane);
        lane.due = due;
        lane.socket.write(requests[sent++ % requests.length] as Buffer);
      }
      if (answers >= total) return done();
      Atomics.wait(nobody, 0, 0, PAUSE_MS);
      setImmediate(turn);
    };
    turn();
  });
  for (const { socket } of idle) socket.destroy();
  const first = Math.floor(warm > 0 ? warm * rate : total / 10);
  const at = percentiles(latencies.subarray(first));
  const warmP99 = percentiles(latencies.subarray(0, first))(0.99);
  return { p50: at(0.5), p99: at(0.99), max: at(1), warmP99, errors };
}

function rawRequests({ url, headers, bodies }: Pick<Load, "url" | "headers" | "bodies">): Buffer[] {
  const { hostname, pathname } = new URL(url);
  return bodies.map((body) => {
    const all = { ...headers, "Content-Length": String(Buffer.byteLength(body)) };
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
    return Buffer.from(
      `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\n${head.join("\r\n")}\r\n\r\n${body}`,
    );
  });
}

/** A connection that reads each answer into the same bytes, and tells whether its status is 2xx. */
function openSocket(url: string, answered: (isGood: boolean) => void): Socket {
  const { hostname, port } = new URL(url);
  const buffer = Buffer.alloc(4096);
  const callback = () => {
    answered(buffer.toString("latin1", 9, 10) === "2");
    return true;
  };
  return connect({
    port: Number(port),
    host: hostname,
    noDelay: true,
    onread: { buffer, callback },
  });
}

function percentiles(values: Float64Array): (part: number) => number {
  const sorted = values.slice().sort();
  return (part) =>
    sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
}
