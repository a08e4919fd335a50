import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { test } from "node:test";
import { EgressFault } from "../../../src/ground/kit/egress-error.ts";
import { createNames, type Resolve } from "../../../src/ground/kit/names.ts";
import { lookupPlaces, widenThreadPool } from "../../../src/ground/kit/thread-pool.ts";
import { handClock } from "../../support/clock.ts";

const at = (address: string): LookupAddress => ({ address, family: 4 });
const HERE = [at("192.0.2.1")];
const THERE = [at("192.0.2.2")];

type Answer = { resolve(found: readonly LookupAddress[]): void; reject(error: Error): void };

/** A resolver whose every lookup waits for the test to answer it. */
function bookOf(places: number) {
  const clock = handClock();
  const open = new Map<string, Answer>();
  let most = 0;
  const resolve: Resolve = (hostname) => {
    assert.ok(!open.has(hostname), "a name is looked up once at a time");
    const { promise, ...answer } = Promise.withResolvers<readonly LookupAddress[]>();
    open.set(hostname, answer);
    most = Math.max(most, open.size);
    return promise;
  };
  const take = (hostname: string): Answer => {
    const answer = open.get(hostname) ?? assert.fail(`${hostname} isn't being looked up`);
    open.delete(hostname);
    return answer;
  };
  return {
    clock,
    names: createNames({ clock, resolve, places }),
    /** The names being looked up. */
    running: () => [...open.keys()],
    most: () => most,
    async found(hostname: string, addresses: readonly LookupAddress[] = HERE) {
      take(hostname).resolve(addresses);
      await clock.turn(0);
    },
    async failed(hostname: string, code: string) {
      take(hostname).reject(Object.assign(new Error(code), { code }));
      await clock.turn(0);
    },
  };
}

const series = (name: string, count: number) => Array.from({ length: count }, (_, i) => name + i);
const dns = (error: unknown) => error instanceof EgressFault && error.egressError === "dns";

test("names that are slow wait for each other, never for one that answers, nor for a new one", async () => {
  const book = bookOf(8);
  for (const name of ["swift", ...series("dead", 6)]) {
    const asked = book.names.lookup(name);
    if (name === "swift") {
      await book.found(name);
      assert.deepEqual(await asked, HERE);
    } else asked.catch(() => {});
  }
  assert.equal(book.running().length, 6, "two places are kept for names that answer");
  await book.clock.turn(1000);
  for (const name of series("dead", 6)) await book.failed(name, "EAI_AGAIN");

  for (const name of series("dead", 6)) book.names.lookup(name).catch(() => {});
  assert.deepEqual(book.running(), ["dead0", "dead1"], "a quarter of the places is for slow ones");
  const fresh = book.names.lookup("fresh");
  const swift = book.names.lookup("swift");
  assert.deepEqual(book.running().slice(2), ["fresh", "swift"]);
  await book.found("fresh", THERE);
  await book.found("swift");
  assert.deepEqual([await fresh, await swift], [THERE, HERE]);

  await book.failed("dead0", "EAI_AGAIN");
  assert.deepEqual(book.running(), ["dead1", "dead2"], "the next slow one, in order");
  assert.ok(book.most() <= 8);
});

test("a name that was slow and answers at once is no longer one of the slow", async () => {
  const book = bookOf(4);
  const late = book.names.lookup("late");
  await book.clock.turn(1500);
  await book.found("late");
  assert.deepEqual(await late, HERE);
  for (const name of ["late", "other"]) {
    void book.names.lookup(name);
    await book.found(name);
  }
  void book.names.lookup("late");
  for (const name of series("new", 4)) void book.names.lookup(name);
  assert.deepEqual(book.running(), ["late", "new0", "new1"]);
});

test("the answer of before serves while a lookup takes over a second, and is replaced by the fresh one", async () => {
  const book = bookOf(4);
  const first = book.names.lookup("a");
  await book.found("a");
  assert.deepEqual(await first, HERE);

  let second: unknown = null;
  void book.names.lookup("a").then((found) => {
    second = found;
  });
  await book.clock.turn(999);
  assert.equal(second, null, "the fresh answer is waited for");
  await book.clock.turn(1);
  assert.deepEqual(second, HERE);
  const joined = book.names.lookup("a");
  await book.clock.turn(0);
  assert.deepEqual(await joined, HERE, "whoever comes later doesn't wait another second");

  await book.found("a", THERE);
  const third = book.names.lookup("a");
  await book.clock.turn(1000);
  assert.deepEqual(await third, THERE);
});

test("a name server that fails leaves the answer of before, for a day; 'no such name' takes it away", async () => {
  const book = bookOf(4);
  const ask = async (end: () => Promise<void>) => {
    const asked = book.names.lookup("a");
    asked.catch(() => {});
    await end();
    return asked;
  };
  await ask(() => book.found("a"));
  assert.deepEqual(await ask(() => book.failed("a", "EAI_AGAIN")), HERE);
  await book.clock.turn(86_400_000);
  await assert.rejects(
    ask(() => book.failed("a", "EAI_AGAIN")),
    dns,
  );
  await ask(() => book.found("a"));
  await assert.rejects(
    ask(() => book.failed("a", "ENOTFOUND")),
    dns,
  );
  await assert.rejects(
    ask(() => book.failed("a", "EAI_AGAIN")),
    dns,
  );
});

test("a call is held back while its name waits its turn, and for as long after as a connection may take", async () => {
  const book = bookOf(2);
  for (const name of ["a", "b"]) book.names.lookup(name).catch(() => {});
  assert.deepEqual(book.running(), ["a"], "the other place is for names that answer");
  await book.clock.turn(3000);
  assert.deepEqual([book.names.heldBack("a", 5000), book.names.heldBack("b", 5000)], [false, true]);
  await book.failed("a", "EAI_AGAIN");
  assert.deepEqual(book.running(), ["b"]);
  await book.clock.turn(4999);
  assert.equal(book.names.heldBack("b", 5000), true);
  await book.clock.turn(1);
  assert.equal(book.names.heldBack("b", 5000), false);
});

test("each party has its share of the lookups, and the one with the fewest comes first", async () => {
  const book = bookOf(8);
  const [greedy, modest] = [book.names.share(4), book.names.share(4)];
  const ask = (names: typeof greedy, name: string) => names.lookup(name).catch(() => {});
  for (const name of series("greedy", 9)) ask(greedy, name);
  assert.equal(book.running().length, 4);
  for (const name of series("other", 2)) ask(book.names.share(4), name);
  assert.equal(book.running().length, 6);
  ask(greedy, "common");
  ask(modest, "modest");
  ask(modest, "common");
  await book.found("greedy0");
  assert.equal(
    book.running().at(-1),
    "common",
    "who wants the same name needn't wait for the other",
  );
  await book.found("common");
  assert.equal(book.running().at(-1), "modest");
});

test("the threads for names are half of all, and the operator's own number stays", () => {
  const mine = { UV_THREADPOOL_SIZE: "16" };
  widenThreadPool(mine);
  assert.deepEqual([mine.UV_THREADPOOL_SIZE, lookupPlaces(mine)], ["16", 6]);
  const usual: Record<string, string> = {};
  assert.equal(lookupPlaces(usual), 2);
  widenThreadPool(usual);
  assert.equal(lookupPlaces(usual), 22);
  assert.equal(lookupPlaces({ UV_THREADPOOL_SIZE: "many" }), 2);
});
