import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { alertsIn, keptStage, type Ledger, loseDisk, sendUntilGone } from "../support/kept-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { type PostgresPair, startPostgresPair } from "../support/postgres-pair.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";

/** A PostgreSQL that syncs is killed, and with it the box and its disk: what was answered is there. */

const ROUNDS = Number(process.env["ROUNDS"] ?? 30);

async function lostTogether(
  t: TestContext,
  pair: PostgresPair,
  strike: () => Promise<void>,
): Promise<void> {
  const { machine } = await keptStage(t, pair);
  const box = machine("one");
  const random = seeded(seed);
  await box.start();
  const token = await box.project("shop");
  const ledger: Ledger = { last: 0, answered: new Set() };
  for (let round = 0; round < ROUNDS; round++) {
    const senders = Array.from({ length: 8 }, () => sendUntilGone(box, token, ledger));
    const enough = ledger.answered.size + 20 + random() * 40;
    while (ledger.answered.size < enough) await pause(random() * 50);
    const struck = strike();
    // Before it would go on by its own disk.
    await pause(random() * 300);
    await box.kill();
    await Promise.all([struck, ...senders]);
    loseDisk(box.data);
    await box.start();
    const { numbers } = alertsIn(box.data);
    const missing = [...ledger.answered].filter((n) => !numbers.has(n));
    assert.deepEqual(missing, [], `round ${round}, of ${ledger.answered.size} answered`);
  }
  t.diagnostic(`${ROUNDS} rounds, ${ledger.answered.size} of ${ledger.last} events answered`);
}

postgresTest("the database is killed and starts again, the box's disk is lost", async (t) => {
  const pair = await startPostgresPair({ standby: false });
  t.after(() => pair.stop());
  await lostTogether(t, pair, pair.restart);
});

postgresTest("the database's standby takes over, the box's disk is lost", async (t) => {
  const pair = await startPostgresPair();
  t.after(() => pair.stop());
  await lostTogether(t, pair, pair.failOver);
});
