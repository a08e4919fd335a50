import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { alertsIn } from "../support/kept-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { program } from "../support/program.ts";
import { type Machine, twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

/**
 * BOX_BEFORE, the words that start the release before: two machines with it are upgraded one after the other, as
 * docs/machines.md says, while senders go on.
 */

const before = (process.env["BOX_BEFORE"] ?? "").split(" ").filter(Boolean);
/** Longer than a machine lives after its latest word, and the other one has to have heard the database. */
const NOBODY_MS = 25_000;

const serves = (machine: Machine) =>
  untilSo(async () => (await machine.role())?.status === 200, "it serves");
const standsBy = (machine: Machine) =>
  untilSo(async () => (await machine.role())?.role === "standby", "it stands by");
const mayTake = async ({ url }: Machine) => {
  const asked = await fetch(`${url}/metrics`, { headers: { connection: "close" } });
  return /^box_can_take 1$/m.test(await asked.text());
};

postgresTest("both machines are upgraded while senders go on, and nothing is lost", async (t) => {
  if (before.length === 0) return t.skip("BOX_BEFORE names no program");
  const older = before as unknown as Program;
  const newer = await program();
  const { one, two, ledger } = await twoMachines(t, { isLinked: true, first: older });
  await standsBy(two);
  const ends = new AbortController();
  const senders = ledger.sending(ends.signal);
  const some = async () => {
    const many = ledger.answered.size + 20;
    await untilSo(async () => ledger.answered.size > many, "events are answered");
  };
  await some();
  // First the one that stands by.
  assert.equal((await two.stop()).code, 0);
  await two.startAs(newer);
  await standsBy(two);
  await untilSo(() => mayTake(two), "a newer program may take an older one's box");
  await some();
  assert.equal((await one.stop()).code, 0);
  await serves(two);
  await some();
  t.diagnostic(`upgraded: longest wait for a yes ${Math.round(ledger.longest)} ms`);
  // The older program, started again by mistake, stands by and never takes what a newer one has changed.
  await one.startAs(older);
  await standsBy(one);
  await untilSo(async () => !(await mayTake(one)), "an older program can't take it");
  const waits = ledger.longest;
  await two.kill();
  await pause(NOBODY_MS);
  assert.notEqual((await one.role())?.status, 200, "the older program has left it alone");
  await two.startAs(newer);
  await serves(two);
  ledger.longest = waits;
  assert.equal((await one.stop()).code, 0);
  await one.startAs(newer);
  await standsBy(one);
  await some();
  ends.abort();
  await senders;
  const rung = () => new Set(ledger.pages.map(({ n }) => n));
  await untilSo(async () => [...ledger.answered].every((n) => rung().has(n)), "each rings");
  assert.equal((await two.stop()).code, 0);
  await serves(one);
  assert.equal((await one.stop()).code, 0);
  const { numbers, ids } = alertsIn(one.data);
  assert.deepEqual(
    [...ledger.answered].filter((n) => !numbers.has(n)),
    [],
  );
  assert.equal(new Set(ids).size, ids.length);
  const twice = ledger.pages.length - rung().size;
  t.diagnostic(`${ledger.answered.size} of ${ledger.sent} answered, ${twice} pages twice`);
});
