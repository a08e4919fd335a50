import assert from "node:assert/strict";
import { connect } from "node:net";
import { seeded } from "../support/seeded.ts";
import { mutate, mutateInside, seeds, split } from "./mutate.ts";
import { type Served, served } from "./served.ts";

/** What came of one bent request. */
interface Outcome {
  /** Status lines in what was answered. */
  statuses: number[];
  /** Whether the server let the connection go or answered within its own limits. */
  over: boolean;
}

export interface Figures {
  requests: number;
  /** How many got each status; 0 for none. */
  byStatus: Record<number, number>;
  unanswered: number;
  /** Milliseconds of good requests sent in between. */
  good: number[];
}

/** Times short enough that what waits for them doesn't hold the run up. */
const limits = { head: 400, request: 800, keepAlive: 1500, silence: 2000, check: 50 };
/** Fifteen times the longest limit: nothing but a hang takes so long, on a machine that is busy with other tests too. */
const PATIENCE_MS = 30_000;
const ROUND = 200;
const AT_ONCE = 50;

/**
 * Sends `requests` bent requests, fifty at once, and a good one after each two hundred. Throws where one is answered with
 * 5xx, hangs past the server's limits, or makes the box log an error.
 */
export async function runMutated(requests: number, seed: number): Promise<Figures> {
  const box = await served(limits);
  const figures: Figures = { requests, byStatus: {}, unanswered: 0, good: [] };
  const random = seeded(seed);
  const made = seeds(box.token, box.key);
  const pick = () => made[Math.floor(random() * made.length)] as Buffer;
  const one = async (n: number) => {
    const bend = random() < 0.5 ? mutate : mutateInside;
    const bytes = bend(random, pick(), pick());
    const leaves = random() < 0.05;
    const outcome = await send(box, split(random, bytes), leaves);
    check(outcome, { n, seed, bytes });
    for (const status of outcome.statuses)
      figures.byStatus[status] = (figures.byStatus[status] ?? 0) + 1;
    if (outcome.statuses.length === 0) figures.unanswered++;
  };
  try {
    for (let round = 0; round < requests; round += ROUND) {
      let sent = round;
      const end = Math.min(requests, round + ROUND);
      const worker = async () => {
        while (sent < end) await one(++sent);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, worker));
      figures.good.push(await good(box));
    }
    assert.deepEqual(box.errors, [], `seed ${seed}`);
    await nothingLeft(box);
  } finally {
    await box.stop();
  }
  return figures;
}

function check(outcome: Outcome, sent: { n: number; seed: number; bytes: Buffer }): void {
  const what = `request ${sent.n} of seed ${sent.seed}: ${JSON.stringify(sent.bytes.toString("latin1"))}`;
  assert.ok(outcome.over, `hangs: ${what}`);
  const bad = outcome.statuses.filter((status) => status >= 500);
  assert.deepEqual(bad, [], what);
}

/** Writes the parts and reads until there is silence after an answer, or the server ends it. */
function send(box: Served, parts: readonly Buffer[], leaves: boolean): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const socket = connect({ port: box.port, host: "127.0.0.1" });
  socket.setNoDelay(true);
  let text = "";
  let quiet: NodeJS.Timeout | undefined;
  const finish = (over: boolean) => {
    clearTimeout(patience);
    clearTimeout(quiet);
    socket.destroy();
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
    resolve({ statuses, over });
  };
  const patience = setTimeout(() => finish(false), PATIENCE_MS);
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    clearTimeout(quiet);
    quiet = setTimeout(() => finish(true), 10);
  });
  for (const end of ["end", "close", "error"]) socket.on(end, () => finish(true));
  const write = (i: number) => {
    const part = parts[i];
    if (leaves && i === 1) finish(true);
    if (part === undefined || socket.destroyed) return;
    socket.write(part, () => setImmediate(write, i + 1));
  };
  write(0);
  return promise;
}

/**
 * Milliseconds of one event and its 202, the best of three: other work on this machine isn't the box's, and
 * may make a request miss the short limits, too.
 */
async function good(box: Served): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 3 && best > 100; i++) best = Math.min(best, await goodOnce(box));
  assert.ok(best < Number.POSITIVE_INFINITY, "three good requests were not taken");
  return best;
}

async function goodOnce(box: Served): Promise<number> {
  const body = '{"message":"a good one","level":200}';
  const from = performance.now();
  const { statuses } = await send(
    box,
    [
      Buffer.from(
        `POST /v1/ingest HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${box.token}\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    ],
    false,
  );
  if (statuses[0] === 408) return Number.POSITIVE_INFINITY;
  assert.deepEqual(statuses, [202]);
  return performance.now() - from;
}

async function nothingLeft(box: Served): Promise<void> {
  assert.equal(box.tenant.ingest.stats().waiting, 0);
  const until = performance.now() + 5000;
  while (box.tenant.waiters.parked > 0 && performance.now() < until)
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(box.tenant.waiters.parked, 0);
}
