import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

// Loaded before a server (`--import`): notes how much processor time each turn of its event loop takes. An address of its
// own, the first line it prints, answers with all since it was last asked, in milliseconds.

/** Shorter ones did nothing: with this watch the loop never sleeps. */
const LEAST_MS = 0.1;

let noted: number[] = [];
let before = cpu();

function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function turn(): void {
  const now = cpu();
  if (now - before >= LEAST_MS) noted.push(now - before);
  before = now;
  setImmediate(turn);
}

const server = createServer((_, response) => {
  response.end(JSON.stringify(noted));
  noted = [];
});
await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port} `);
setImmediate(turn);
