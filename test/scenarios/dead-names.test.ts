import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { before, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { silentLog } from "../../src/ground/kit/log.ts";
import type { Resolve } from "../../src/ground/kit/names.ts";
import { lookupPlaces, widenThreadPool } from "../../src/ground/kit/thread-pool.ts";
import { type TestBox, testBox } from "../support/box.ts";
import { realClock } from "../support/clock.ts";
import { answer, type Receiver, startReceiver } from "../support/receiver.ts";

const HERE: LookupAddress = { address: "127.0.0.1", family: 4 };

/**
 * The operating system's resolver as Node offers it: a few threads, first come, first served. A name
 * under `dead` has a server that never answers, and holds its thread until the resolver gives up.
 */
function threads(count: number, giveUpMs: number, asked = new Set<string>()): Resolve {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (hostname) => {
    if (free === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    else free--;
    asked.add(hostname);
    try {
      if (!hostname.startsWith("dead")) return [HERE];
      await pause(giveUpMs, undefined, { ref: false });
      throw Object.assign(new Error("no answer"), { code: "EAI_AGAIN" });
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

async function boxWith(t: TestContext, resolve: Resolve) {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  // Each page needs its own connection, and so its own lookup.
  receiver.always(answer(204, "", { connection: "close" }));
  const box = await testBox({}, realClock(), silentLog, { resolve });
  t.after(() => box.stop());
  const token = await box.project("shop");
  const rule = { name: "any", identifier_keys: ["n"] };
  assert.equal((await box.api("POST", "/v1/projects/shop/rules", rule)).status, 201);
  return { box, receiver, token };
}

async function call(box: TestBox, { port }: Receiver, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const url = `http://${name}.test:${port}/`;
    assert.equal((await box.api("POST", "/v1/projects/shop/webhooks", { url })).status, 201);
  }
}

/** Opens an alert; how long its page took to the receiver, in milliseconds. */
async function paged(box: TestBox, receiver: Receiver, token: string, n: number): Promise<number> {
  const start = performance.now();
  await box.ingest(token, { message: "Disk is full", level: 500, keys: { n: String(n) } });
  await receiver.next();
  return performance.now() - start;
}

/** The streak and error of the endpoint whose URL has this name. */
function endpoint(box: TestBox, name: string) {
  return box.tenant.store
    .sql(
      "SELECT consecutive_failures AS failures, last_error AS error FROM integrations WHERE url LIKE ?",
    )
    .get(`http://${name}.%`) as { failures: number; error: string | null };
}

const dead = (count: number) => Array.from({ length: count }, (_, i) => `dead${i}`);

/** As the command line does before anything needs a thread. */
before(() => widenThreadPool(process.env));

/** The longest that one of 45 pages took to the receiver. */
async function worstOf45(box: TestBox, receiver: Receiver, token: string): Promise<number> {
  const delays = [];
  for (let n = 1; n <= 45; n++) {
    delays.push(await paged(box, receiver, token, n));
    await pause(150);
  }
  return Math.max(...delays);
}

test("twelve names whose servers are silent delay no page to another, of a box that has just started", async (t) => {
  const resolve = threads(lookupPlaces(process.env), 10_000);
  const { box, receiver, token } = await boxWith(t, resolve);
  await call(box, receiver, [...dead(12), "alive"]);
  const worst = await worstOf45(box, receiver, token);
  assert.ok(worst < 2000, `${Math.round(worst)} ms`);
  assert.deepEqual(endpoint(box, "alive"), { failures: 0, error: null });
});

test("ninety such names delay no page to a name that has answered, and none is blamed that only waited here", async (t) => {
  const asked = new Set<string>();
  const resolve = threads(lookupPlaces(process.env), 10_000, asked);
  const { box, receiver, token } = await boxWith(t, resolve);
  await call(box, receiver, ["alive"]);
  await paged(box, receiver, token, 0);
  await call(box, receiver, dead(90));
  const worst = await worstOf45(box, receiver, token);
  assert.ok(worst < 2000, `${Math.round(worst)} ms`);
  assert.deepEqual(endpoint(box, "alive"), { failures: 0, error: null });

  const waited = dead(90).filter((name) => !asked.has(`${name}.test`));
  assert.ok(waited.length > 40, `${waited.length} of them waited all the time`);
  for (const name of waited) assert.equal(endpoint(box, name).failures, 0, name);
  const told = waited.filter((name) => endpoint(box, name).error === "busy");
  assert.ok(told.length > 0, "and it says so");
});
