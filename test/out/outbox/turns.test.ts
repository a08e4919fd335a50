import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { deliveryQueue } from "../../../src/out/outbox/deliveries.ts";
import { BREAKER_LIMITS } from "../../../src/out/outbox/retry.ts";
import { noTurns, rankOf } from "../../../src/out/outbox/turns.ts";
import { handClock } from "../../support/clock.ts";
import fc from "../../support/property.ts";

const directory = mkdtempSync(join(tmpdir(), "box-turns-"));
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

const unused = () => {
  throw new Error("nothing is sent or written here");
};
const queue = deliveryQueue({
  noPhone() {},
  store,
  breaker: BREAKER_LIMITS,
  send: unused,
  learn: unused,
  disabled: unused,
  tell: unused,
});

interface Waiting {
  id: number;
  rank: number;
  rule: number;
  alert: number;
  attempts: number;
}

function fill(rows: readonly Waiting[]): void {
  store.write((tx) => {
    tx.sql("DELETE FROM deliveries").run();
    for (const { id, rank, rule, alert, attempts } of rows)
      tx.sql(
        `INSERT INTO deliveries (id, integration_id, event_row, alert_id, rule_id, rank, event, status, attempts, next_attempt_ms, created_at)
         VALUES (?, 'e', 1, ?, ?, ?, 'alert.opened', 'pending', ?, 0, 0)`,
      ).run(id, alert, rule, rank, attempts);
  });
}

const over = (id: number) =>
  store.write((tx) => tx.sql("UPDATE deliveries SET status = 'delivered' WHERE id = ?").run(id));

/** Some rows of a few rules and levels; an alert has one rule, and one level until it rises. */
const rowsArbitrary = fc
  .array(fc.record({ rank: fc.nat(5), rule: fc.nat(4), alert: fc.nat(30), attempts: fc.nat(2) }), {
    maxLength: 60,
  })
  .map((drawn) =>
    drawn.map((row, i) => ({
      ...row,
      id: i + 1,
      alert: row.alert * 10 + row.rule,
      rule: row.rule + 1,
    })),
  );

const flowOf = ({ rank, rule }: Waiting) => `${rank} ${rule}`;

/** Drains the rows, `limit` a look; `each` sees what a look gave of what was ready. */
function drain(
  rows: readonly Waiting[],
  { limit, probe }: { limit: number; probe: boolean },
  each: (given: readonly Waiting[], ready: readonly Waiting[]) => void,
): Waiting[] {
  fill(rows);
  const turns = noTurns();
  const taken: Waiting[] = [];
  for (;;) {
    const look = { nowMs: clock.now(), limit, probe, inFlight: new Set<number>(), turns };
    const given = queue.due(store, "e", look).map(({ id }) => rows[id - 1] as Waiting);
    if (given.length === 0) return taken;
    const left = rows.filter((row) => !taken.includes(row));
    const isFirst = (row: Waiting) =>
      !left.some((other) => other.alert === row.alert && other.id < row.id);
    each(given, left.filter(isFirst));
    for (const { id } of given) over(id);
    taken.push(...given);
  }
}

test("whatever waits: each row goes once, the first of its alert and the oldest of its rule and level", () => {
  fc.assert(
    fc.property(rowsArbitrary, fc.integer({ min: 1, max: 9 }), (rows, limit) => {
      const taken = drain(rows, { limit, probe: false }, (given, ready) => {
        assert.equal(given.length, Math.min(limit, ready.length));
        for (const row of given) {
          assert.ok(ready.includes(row), "no alert overtakes itself");
          const older = ready.filter((each) => flowOf(each) === flowOf(row) && each.id < row.id);
          for (const each of older) assert.ok(given.includes(each), "in order");
        }
      });
      assert.equal(new Set(taken).size, rows.length);
    }),
    { numRuns: 100 },
  );
});

for (const probe of [false, true])
  test(`whatever waits: no rule misses more than a turn of each other rule and level${probe ? ", also while it is probed" : ""}`, () => {
    fc.assert(
      fc.property(rowsArbitrary, (rows) => {
        const missed = new Map<string, number>();
        const ranks = new Set(rows.map(({ rank }) => rank)).size;
        const rulesOf = (flow: string) =>
          new Set(rows.filter(({ rank }) => flow.startsWith(`${rank} `)).map(({ rule }) => rule))
            .size;
        drain(rows, { limit: 1, probe }, ([row], ready) => {
          const waiting = new Set(ready.map(flowOf));
          for (const flow of waiting) missed.set(flow, (missed.get(flow) ?? 0) + 1);
          for (const flow of [...missed.keys()])
            if (!waiting.has(flow) || (row && flow === flowOf(row))) missed.delete(flow);
          for (const [flow, turns] of missed)
            assert.ok(turns < ranks * rulesOf(flow), `${flow} missed ${turns}`);
        });
      }),
      { numRuns: 100 },
    );
  });

test("what comes, and what rises, while a look is full has its turn at the next one", () => {
  const flood = Array.from({ length: 30 }, (_, i) => ({
    id: i + 1,
    rank: 4,
    rule: 1,
    alert: i + 1,
  }));
  fill(flood.map((row) => ({ ...row, attempts: 0 })));
  const turns = noTurns();
  const look = () => {
    const inFlight = new Set<number>();
    const rows = queue.due(store, "e", {
      nowMs: clock.now(),
      limit: 2,
      probe: false,
      inFlight,
      turns,
    });
    for (const { id } of rows) over(id);
    return rows.map(({ id }) => id);
  };
  assert.deepEqual(look(), [1, 2]);
  fill(flood.slice(4).map((row) => ({ ...row, attempts: 0, rank: row.id === 30 ? 5 : 4 })));
  // The dispatcher does this when it is told of the endpoint.
  turns.flows = null;
  assert.deepEqual(look(), [30, 5]);
  fill([{ ...(flood[0] as Waiting), rank: 2, attempts: 0 }]);
  assert.deepEqual(look(), [1], "nor does anything stay behind unasked");
});

test("a level between two names has its turns with the lower one; none is out of range", () => {
  const levels = [0, 99, 100, 350, 400, 499, 500, 501, Number.MAX_SAFE_INTEGER];
  assert.deepEqual(levels.map(rankOf), [0, 0, 1, 3, 4, 4, 5, 5, 5]);
});
