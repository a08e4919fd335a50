import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { askServing } from "../../src/app/offline/serve-sock.ts";
import { runCommand } from "../../src/app/prove/scratch-box.ts";
import { postgresTest } from "../support/postgres.ts";
import { program } from "../support/program.ts";
import { twoMachines } from "../support/two-machines.ts";
import { untilSo } from "../support/until.ts";

/** So long before the other machine may take it: a command is held for longer. */
const LEFT_SECONDS = 6;
const SOON_MS = 8_000;
/** So many commands may wait at one machine. */
const MOST_AT_ONCE = 16;
const REFUSED_MS = 1_000;

postgresTest(
  "a command that is held where nobody serves is done by the machine that takes over",
  async (t) => {
    const { one, two, ask } = await twoMachines(t, { isLinked: true });
    const made = await program();
    await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
    await one.kill();
    const owner = async () =>
      (
        await ask<{ epoch: number; left: number }>(
          `SELECT epoch, extract(epoch FROM alive_until - clock_timestamp())::int AS left FROM tenant_stores`,
        )
      )[0];
    await untilSo(
      async () => ((await owner())?.left ?? 0) < LEFT_SECONDS,
      "it is dead for a while",
    );
    const said = runCommand(made, ["pair-code", "--data", two.data, "--json"]);
    said.catch(() => {});
    await untilSo(async () => (await owner())?.epoch === 2, "it has taken the box");
    const from = performance.now();
    await untilSo(async () => (await two.role())?.role === "owner", "it serves the box");
    assert.ok(performance.now() - from < SOON_MS, "it waits for nobody");
    assert.equal(typeof (await said)["code"], "string");
  },
);

postgresTest(
  "commands that nobody does for twenty seconds are told so, and leave room",
  async (t) => {
    const { one, two } = await twoMachines(t, { isLinked: true });
    await untilSo(async () => (await two.role())?.behind === 0, "its copy is up to date");
    two.reach(false);
    await one.kill();
    const all = Array.from({ length: MOST_AT_ONCE }, () => askServing(two.data, "{}"));
    for (const said of await Promise.all(all)) assert.match(said ?? "", /stands by/);
    const next = askServing(two.data, "{}").catch(String);
    assert.equal(await Promise.race([next, pause(REFUSED_MS)]), undefined, "it is held");
  },
);
