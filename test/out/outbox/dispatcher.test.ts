import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore, type Tx } from "../../../src/ground/store/store.ts";
import { createDispatcher } from "../../../src/out/outbox/dispatcher.ts";
import type { Attempted, Queue, QueuedRow } from "../../../src/out/outbox/queue.ts";
import { handClock } from "../../support/clock.ts";
import fc from "../../support/property.ts";

const directory = mkdtempSync(join(tmpdir(), "box-dispatcher-"));
const clock = handClock();
const store = openStore({
  path: join(directory, "box.db"),
  kind: "box" as const,
  clock,
  random: systemRandom,
});
after(() => {
  store.close();
  rmSync(directory, { recursive: true, force: true });
});

interface FakeRow extends QueuedRow {
  endpoint: string;
  dueAt: number;
  over: boolean;
  recorded: number;
}

type Outcome = "well" | "failed" | "broken";

/** Rows in memory; what is sent waits until the test ends it. */
function fakeQueue(
  options: {
    recordFails?: (row: QueuedRow) => boolean;
    onRecord?: (row: QueuedRow, tx: Tx) => void;
  } = {},
) {
  const rows: FakeRow[] = [];
  const under = new Map<number, (outcome: Outcome) => void>();
  const sent: number[] = [];
  const off = new Set<string>();
  let sends = (_row: QueuedRow) => {};
  const pending = (endpoint: string) =>
    rows.filter((row) => row.endpoint === endpoint && !row.over);
  const queue: Queue<Outcome, string> = {
    name: "fake",
    probes: true,
    endpoints: () => [...new Set(rows.filter((row) => !row.over).map((row) => row.endpoint))],
    due: (_reader, endpoint, { nowMs, limit, probe, inFlight }) =>
      pending(endpoint)
        .filter(
          (row) =>
            row.dueAt <= nowMs &&
            !inFlight.has(row.id) &&
            !pending(endpoint).some((other) => other.alertId === row.alertId && other.id < row.id),
        )
        .sort((a, b) => (probe ? a.attempts - b.attempts : 0) || a.id - b.id)
        .slice(0, limit),
    nextDue(_reader, endpoint, nowMs) {
      const later = pending(endpoint).filter((row) => row.dueAt > nowMs);
      return later.length === 0 ? null : Math.min(...later.map((row) => row.dueAt));
    },
    endpoint: (_reader, endpoint) => ({
      enabled: !off.has(endpoint),
      failures: 0,
      target: endpoint,
    }),
    async send(_endpoint, row) {
      sends(row);
      sent.push(row.id);
      return new Promise((resolve) => under.set(row.id, resolve));
    },
    broken: () => "broken",
    isWell: (outcome) => outcome === "well",
    record(tx, _endpoint, { row, outcome }: Attempted<Outcome>) {
      options.onRecord?.(row, tx);
      if (options.recordFails?.(row)) throw new Error("this row can't be written");
      const stored = rows.find((each) => each.id === row.id) as FakeRow;
      stored.recorded++;
      stored.attempts++;
      if (outcome === "well") stored.over = true;
      else stored.dueAt = clock.now() + 2000;
      return { well: outcome === "broken" ? null : outcome === "well" };
    },
    release: (_tx, endpoint) => {
      for (const row of pending(endpoint)) row.dueAt = clock.now();
      return Math.max(0, ...pending(endpoint).map(({ id }) => id));
    },
    backlog: (_reader, endpoint) => Math.max(0, ...pending(endpoint).map(({ id }) => id)),
    isDrained: (_reader, endpoint, { rowId, nowMs }) =>
      !pending(endpoint).some((row) => row.id <= rowId && row.dueAt <= nowMs),
  };
  return {
    queue,
    rows,
    under,
    sent,
    off,
    onSend(fn: (row: QueuedRow) => void) {
      sends = fn;
    },
    add(endpoint: string, alertId = rows.length + 1): number {
      const id = rows.length + 1;
      const dueAt = clock.now();
      rows.push({
        id,
        endpoint,
        alertId,
        attempts: 0,
        event: "alert.opened",
        createdAt: 0,
        dueAt,
        over: false,
        recorded: 0,
      });
      return id;
    },
    async end(id: number, outcome: Outcome = "well") {
      const finish = under.get(id);
      under.delete(id);
      finish?.(outcome);
      await turns();
    },
  };
}

/** Lets promises settle and results be written. */
async function turns(): Promise<void> {
  for (let i = 0; i < 12; i++) await new Promise((resolve) => setImmediate(resolve));
}

function dispatcherOf(queue: Queue<Outcome, string>, sockets = 64) {
  return createDispatcher({ store, log: silentLog, queue, sockets, wake: () => {} });
}

test("a wide endpoint that hangs leaves half of the sockets to first attempts of others", async () => {
  const fake = fakeQueue();
  const { queue, add, under } = fake;
  const dispatcher = dispatcherOf(queue, 16);
  for (let i = 0; i < 100; i++) add("wide");
  dispatcher.run();
  for (let i = 0; i < 5; i++) for (const id of [...under.keys()]) await fake.end(id);
  const stuck = under.size;
  assert.equal(stuck, 8);
  for (let i = 0; i < 8; i++) {
    add(`other ${i}`);
    dispatcher.touch(`other ${i}`);
  }
  dispatcher.run();
  assert.equal(under.size, 16);
  assert.equal(dispatcher.inFlight, 16);
});

test("who found no socket gets the next one that is free, in turn", async () => {
  const { queue, add, under, sent, end } = fakeQueue();
  const dispatcher = dispatcherOf(queue, 2);
  const ids = Array.from({ length: 5 }, (_, i) => add(`e${i}`));
  assert.equal(dispatcher.run(), null);
  assert.equal(under.size, 2);
  for (const id of ids) await end(id);
  assert.deepEqual(sent, ids);
});

test("one probe at a time to a failing endpoint; its backlog then drains one at a time, in order", async () => {
  const { queue, add, under, sent, end } = fakeQueue();
  const dispatcher = dispatcherOf(queue);
  const ids = Array.from({ length: 10 }, () => add("e"));
  const look = async (ms: number) => {
    await clock.turn(ms);
    dispatcher.run();
  };
  dispatcher.run();
  for (let i = 0; i < 4; i++) {
    assert.equal(under.size, 1);
    await end([...under.keys()][0] as number, "failed");
    dispatcher.run();
    assert.equal(under.size, 0, "it is left alone for a moment");
    await look(5000);
  }
  assert.deepEqual(sent, ids.slice(0, 5), "the least tried first");
  await end(5);
  const drained = ids.filter((id) => id !== 5);
  for (const id of drained) {
    assert.deepEqual([...under.keys()], [id]);
    await end(id);
  }
  assert.deepEqual(sent.slice(5), drained);
});

test("what waited while the box itself was away goes out side by side, the more the better it goes", async () => {
  const { queue, add, under, sent, end } = fakeQueue();
  const dispatcher = dispatcherOf(queue);
  const ids = Array.from({ length: 40 }, () => add("e"));
  dispatcher.run();
  const wide: number[] = [];
  while (under.size > 0) {
    wide.push(under.size);
    for (const id of [...under.keys()]) await end(id);
  }
  assert.deepEqual(sent, ids);
  assert.ok(wide.length < 8, `${wide}`);
});

test("an endpoint known to be well again gets what piled up one at a time, in order", async () => {
  const { queue, add, under, sent, end } = fakeQueue();
  const dispatcher = dispatcherOf(queue);
  const ids = Array.from({ length: 4 }, () => add("e"));
  dispatcher.revive("e");
  dispatcher.run();
  for (const id of ids) {
    assert.deepEqual([...under.keys()], [id]);
    await end(id);
  }
  assert.deepEqual(sent, ids);
});

test("the next rows go out while good outcomes are written, but none behind its alert's or a bad one", async () => {
  const sentBefore = new Map<number, number[]>();
  const fake = fakeQueue({ onRecord: ({ id }) => sentBefore.set(id, [...fake.sent]) });
  const dispatcher = dispatcherOf(fake.queue);
  fake.add("e", 1);
  fake.add("e", 1);
  fake.add("e", 2);
  fake.add("e", 3);
  dispatcher.run();
  await fake.end(1);
  assert.deepEqual(sentBefore.get(1), [1, 3], "2 waits until the first of its alert is written");
  assert.deepEqual(fake.sent, [1, 3, 2]);
  await fake.end(3, "failed");
  assert.deepEqual(sentBefore.get(3), [1, 3, 2]);
  await fake.end(2);
  assert.deepEqual(sentBefore.get(2), [1, 3, 2], "a failing endpoint gets no more meanwhile");
});

test("outcomes are written with those of the rows that went out because of them, not with later ones", async () => {
  const writtenIn = new Map<number, Tx>();
  const fake = fakeQueue({ onRecord: ({ id }, tx) => writtenIn.set(id, tx) });
  const dispatcher = dispatcherOf(fake.queue);
  // Whoever is asked answers at once.
  fake.onSend(({ id }) => setImmediate(() => void fake.end(id)));
  for (let i = 0; i < 3; i++) fake.add("e");
  dispatcher.run();
  while (dispatcher.counts.well < 3) await turns();
  assert.equal(writtenIn.get(1), writtenIn.get(2));
  assert.notEqual(writtenIn.get(2), writtenIn.get(3));
});

test("a row whose sending throws is written as such and holds up nothing", async () => {
  const fake = fakeQueue();
  const dispatcher = dispatcherOf(fake.queue);
  fake.onSend((row) => {
    if (row.id === 1) throw new Error("poison");
  });
  fake.add("e");
  fake.add("e");
  dispatcher.run();
  await turns();
  await fake.end(2);
  assert.deepEqual(
    fake.rows.map(({ over, recorded }) => [over, recorded]),
    [
      [false, 1],
      [true, 1],
    ],
  );
  assert.equal(dispatcher.inFlight, 0);
});

test("an outcome that can't be written is not lost, not sent again, and holds up no other", async () => {
  let broken = true;
  const fake = fakeQueue({ recordFails: (row) => broken && row.id === 1 });
  const dispatcher = dispatcherOf(fake.queue);
  fake.add("a");
  fake.add("b");
  dispatcher.run();
  const both = [fake.end(1), fake.end(2)];
  await Promise.all(both);
  assert.deepEqual(
    fake.rows.map(({ recorded }) => recorded),
    [0, 1],
  );
  assert.equal(dispatcher.inFlight, 1);
  broken = false;
  await clock.turn(1000);
  await turns();
  assert.deepEqual(fake.sent, [1, 2]);
  assert.equal(fake.rows[0]?.recorded, 1);
  assert.equal(dispatcher.inFlight, 0);
});

test("an endpoint whose rows can't be read is looked at again later, the others go on", async () => {
  const fake = fakeQueue();
  const due = fake.queue.due;
  fake.queue.due = (reader, endpoint, look) => {
    if (endpoint === "damaged") throw new Error("unreadable");
    return due(reader, endpoint, look);
  };
  const dispatcher = dispatcherOf(fake.queue);
  fake.add("damaged");
  fake.add("well");
  const next = dispatcher.run();
  assert.deepEqual([...fake.under.keys()], [2]);
  assert.equal(next, clock.now() + 5000);
});

test("stopping starts nothing, waits for what is under way, and lets what hangs stay pending", async () => {
  const fake = fakeQueue();
  const dispatcher = dispatcherOf(fake.queue);
  fake.add("a");
  fake.add("b");
  dispatcher.run();
  let stopped = false;
  const stop = dispatcher.stop(3000).then(() => {
    stopped = true;
  });
  fake.add("c");
  dispatcher.touch("c");
  dispatcher.run();
  assert.deepEqual(fake.sent, [1, 2]);
  await fake.end(1);
  assert.equal(stopped, false);
  await clock.turn(3000);
  await stop;
  await fake.end(2);
  assert.deepEqual(
    fake.rows.map(({ recorded }) => recorded),
    [1, 0, 0],
  );
});

test("whatever ends when: each row is over once, no alert overtakes itself, sockets are bounded", async () => {
  const action = fc.oneof(
    fc.record({ do: fc.constant("add" as const), endpoint: fc.nat(3), alert: fc.nat(4) }),
    fc.record({ do: fc.constant("end" as const), which: fc.nat(20), outcome: fc.nat(9) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.nat(4000) }),
    fc.record({ do: fc.constant("switch" as const), endpoint: fc.nat(3) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
      const fake = fakeQueue();
      const sockets = 6;
      const dispatcher = dispatcherOf(fake.queue, sockets);
      const finished: number[] = [];
      const finish = async (which: number, outcome: Outcome) => {
        const id = [...fake.under.keys()][which % Math.max(1, fake.under.size)];
        if (id === undefined) return;
        if (outcome === "well") finished.push(id);
        await fake.end(id, outcome);
      };
      for (const each of actions) {
        if (each.do === "add") {
          fake.add(`e${each.endpoint}`, each.endpoint * 10 + each.alert);
          dispatcher.touch(`e${each.endpoint}`);
        } else if (each.do === "end")
          await finish(each.which, each.outcome < 6 ? "well" : "failed");
        else if (each.do === "wait") await clock.turn(each.ms);
        else {
          const endpoint = `e${each.endpoint}`;
          if (!fake.off.delete(endpoint)) fake.off.add(endpoint);
          dispatcher.touch(endpoint);
        }
        dispatcher.run();
        assert.ok(dispatcher.inFlight <= sockets);
        assert.equal(dispatcher.inFlight, fake.under.size);
      }
      for (const endpoint of fake.off) dispatcher.touch(endpoint);
      fake.off.clear();
      for (let i = 0; i < 500 && fake.rows.some((row) => !row.over); i++) {
        dispatcher.run();
        if (fake.under.size > 0) await finish(0, "well");
        else await clock.turn(1000);
      }
      assert.deepEqual(
        [...finished].sort((a, b) => a - b),
        fake.rows.map(({ id }) => id),
      );
      for (const alert of new Set(fake.rows.map(({ alertId }) => alertId))) {
        const order = finished.filter((id) => fake.rows[id - 1]?.alertId === alert);
        assert.deepEqual(
          order,
          [...order].sort((a, b) => a - b),
        );
      }
    }),
    { numRuns: 60 },
  );
});
