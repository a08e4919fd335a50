import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { deliveryQueue } from "../../../src/out/outbox/deliveries.ts";
import type { DeliveryOutcome } from "../../../src/out/outbox/delivery.ts";
import { handClock } from "../../support/clock.ts";
import fc from "../../support/property.ts";
import { scratch } from "../../support/scratch.ts";

const random = { ...systemRandom, fraction: () => 0.5 };

const OUTCOMES: readonly Partial<DeliveryOutcome>[] = [
  { verdict: { kind: "delivered", status: 200 } },
  { verdict: { kind: "later", error: "http 503" } },
  { verdict: { kind: "later", error: "timeout" }, ours: true },
  { verdict: { kind: "never", error: "http 410", disable: true } },
  { verdict: { kind: "dropped", error: "filtered" } },
  { verdict: { kind: "waiting", error: "busy" } },
  { verdict: { kind: "delivered", status: 200 }, learned: { chat_id: "-100" } },
];

/** Two endpoints with `n` rows each; what `record` wrote, in one transaction or each in its own. */
function recorded(
  store: Store,
  attempts: readonly [endpoint: string, outcome: number][],
  together: boolean,
) {
  const queue = deliveryQueue({
    noPhone() {},
    store,
    breaker: { minFailures: 3, minSpanMs: 0 },
    send: () => Promise.reject(new Error("nothing is sent here")),
    learn: (tx, id, { chat_id: chatId }) =>
      void tx.sql("UPDATE integrations SET name = ? WHERE id = ?").run(chatId, id),
    disabled: () => {},
    tell: () => {},
  });
  store.write((tx) => {
    tx.sql("DELETE FROM projects").run();
    tx.sql("DELETE FROM deliveries").run();
    tx.sql("INSERT INTO projects (id, name, version, created_at) VALUES (1, 'p', 1, 0)").run();
    for (const id of ["a", "b"])
      tx.sql(
        "INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, created_at) VALUES (?, 1, ?, 'webhook', '', 1, '', 0)",
      ).run(id, id);
    attempts.forEach(([endpoint], i) => {
      tx.sql(
        "INSERT INTO deliveries (id, integration_id, event_row, event, status, next_attempt_ms, created_at) VALUES (?, ?, 1, 'alert.opened', 'pending', 0, ?)",
      ).run(i + 1, endpoint, tx.at);
    });
  });
  const write = (tx: Parameters<Parameters<Store["write"]>[0]>[0], i: number) => {
    const [endpoint, outcome] = attempts[i] as [string, number];
    const row = { id: i + 1, alertId: null, attempts: 0, event: "alert.opened", createdAt: tx.at };
    return queue.record(tx, endpoint, {
      row,
      outcome: { signedAt: 1, ...OUTCOMES[outcome] } as DeliveryOutcome,
    });
  };
  const said = together
    ? store.write((tx) => attempts.map((_, i) => write(tx, i)))
    : attempts.map((_, i) => store.write((tx) => write(tx, i)));
  return {
    said,
    endpoints: store.sql("SELECT * FROM integrations ORDER BY id").all(),
    rows: store.sql("SELECT * FROM deliveries ORDER BY id").all(),
  };
}

test("outcomes written in one transaction leave what each in its own leaves", (t) => {
  const store = openStore({
    path: join(scratch(t), "box.db"),
    kind: "box",
    clock: handClock(),
    random,
  });
  t.after(() => store.close());
  const attempt = fc.tuple(
    fc.constantFrom("a", "b"),
    fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(OUTCOMES.length - 1)),
  );
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 12 }), (attempts) => {
      assert.deepEqual(recorded(store, attempts, true), recorded(store, attempts, false));
    }),
    { numRuns: 150 },
  );
});

test("what only waited in a queue of this side is no attempt: no count, no streak, due again in two seconds", (t) => {
  const clock = handClock();
  const store = openStore({
    path: join(scratch(t), "box.db"),
    kind: "box",
    clock,
    random,
  });
  t.after(() => store.close());
  const waiting = OUTCOMES.findIndex(({ verdict }) => verdict?.kind === "waiting");
  const { said, endpoints, rows } = recorded(store, Array(9).fill(["a", waiting]), true);
  assert.deepEqual(said, Array(9).fill({ well: null }));
  const { consecutive_failures, failing_since, last_error, enabled } = endpoints[0] as never;
  assert.deepEqual(
    [consecutive_failures, failing_since, last_error, enabled],
    [0, null, "busy", 1],
  );
  for (const { status, attempts, next_attempt_ms } of rows as {
    [column: string]: unknown;
  }[])
    assert.deepEqual([status, attempts, next_attempt_ms], ["pending", 0, clock.now() + 2000]);
});
