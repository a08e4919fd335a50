import assert from "node:assert/strict";
import { cpSync, existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { alertsIn, keptStage, type Ledger, loseDisk, sendUntilGone } from "../support/kept-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";

/** A box whose commits are in a database: whatever becomes of its disk, what was answered is there. */

const KILLS = Number(process.env["KILLS"] ?? 6);
const FATES = ["its disk is lost", "its disk is there", "its disk is set back"] as const;

postgresTest("killed at any moment, a box has every event that was answered", async (t) => {
  const { root, ask, machine } = await keptStage(t);
  const box = machine("one");
  const older = join(root, "older");
  const random = seeded(seed);
  await box.start();
  const token = await box.project("shop");
  const ledger: Ledger = { last: 0, answered: new Set() };
  for (let kill = 0; kill < KILLS; kill++) {
    const senders = Array.from({ length: 8 }, () => sendUntilGone(box, token, ledger));
    const enough = ledger.answered.size + 5 + random() * 40;
    while (ledger.answered.size < enough) await pause(random() * 50);
    await box.kill();
    await Promise.all(senders);
    const fate = FATES[kill % 3];
    if (fate === "its disk is lost") loseDisk(box.data);
    if (fate === "its disk is there") {
      rmSync(older, { recursive: true, force: true });
      cpSync(box.data, older, { recursive: true });
    }
    if (fate === "its disk is set back" && existsSync(older)) {
      rmSync(box.data, { recursive: true });
      renameSync(older, box.data);
    }
    await box.start();
    const { numbers } = alertsIn(box.data);
    const missing = [...ledger.answered].filter((n) => !numbers.has(n));
    assert.deepEqual(missing, [], `kill ${kill}, ${fate}, of ${ledger.answered.size} answered`);
  }
  assert.ok(ledger.answered.size > 5 * KILLS, `${ledger.answered.size} were answered`);
  t.diagnostic(`${KILLS} kills, ${ledger.answered.size} of ${ledger.last} events answered`);
  const stores = await ask("SELECT epoch FROM tenant_stores");
  assert.deepEqual(stores, [{ epoch: KILLS + 1 }], "each start took it once");
});
