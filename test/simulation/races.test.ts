import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after } from "node:test";
import type { RuleBody } from "../../src/core/projects/rule.ts";
import { inBoth, test } from "../support/long.ts";
import { memoryOrTemp } from "../support/memory.ts";
import { defaultRule, step } from "../support/plane.ts";
import { type Engine, machine, startEngine } from "./engine.ts";
import { type Seeded, seeded } from "./seeded.ts";
import { LINES, type World } from "./world.ts";

const directory = mkdtempSync(join(memoryOrTemp(), "box-races-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const MINUTE = 60;
const world: World = {
  rules: [
    {
      ...defaultRule,
      match: { ...defaultRule.match, template_contains: LINES[0] as string },
      identifier_keys: ["host"],
      renotify_minutes: 10,
      escalations: [step(0, ["ann"]), step(10, ["bob"], { repeat: 10 })],
    },
  ],
  rotas: [],
  ladders: new Map(),
  fallback: [],
  horizon: 0,
};

type Op = "ack" | "resolve" | "look";

/** Ack, resolve and the look that finds a step due, some of them twice, in any order. */
function ops(random: Seeded): Op[] {
  const list: Op[] = ["look", random.pick(["ack", "resolve"]), random.pick(["ack", "resolve"])];
  for (let more = random.below(3); more > 0; more -= 1)
    list.push(random.pick(["ack", "resolve", "look"]));
  return list
    .map((op) => ({ op, at: random.fraction() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ op }) => op);
}

/** What must have been said in that second, and the state it must end in. */
function legal(order: readonly Op[], due: readonly string[]): { said: string[]; state: string } {
  const said: string[] = [];
  let state = "open";
  for (const op of order) {
    if (op === "look" && state === "open" && !said.includes("alert.renotified")) said.push(...due);
    if (op === "ack" && state === "open") {
      state = "acknowledged";
      said.push("alert.acknowledged");
    }
    if (op === "resolve" && state !== "resolved") {
      state = "resolved";
      said.push("alert.resolved");
    }
  }
  return { said, state };
}

for (const [as, runs] of inBoth(200, 1_000))
  as(
    `ack, resolve and a due step within one tick have one legal outcome in each of ${runs} orders`,
    () => {
      const random = seeded(1);
      const clock = machine();
      const engine = startEngine({
        path: join(directory, `${runs}.db`),
        world,
        machine: clock,
        random,
      });
      const seen = new Set<string>();
      for (let run = 1; run <= runs; run += 1) {
        engine.event(0, `host ${run}`);
        // Half meet the step, half its repeat; a renotify is due with either.
        const ticks = random.chance(0.5) ? 1 : 2;
        if (ticks === 2) {
          clock.pass(10 * MINUTE);
          engine.look();
        }
        clock.pass(10 * MINUTE);
        const already = saidOf(engine, run).length;
        const order = ops(random);
        for (const op of order) {
          if (op === "look") engine.look();
          else engine[op](run);
        }
        const { said, state } = legal(order, ["alert.escalated", "alert.renotified"]);
        const what = `run ${run}: ${order}`;
        assert.deepEqual(saidOf(engine, run).slice(already), said, what);
        assert.equal(stateOf(engine, run), state, what);
        assert.deepEqual(waiting(engine, run), [], what);
        clock.pass(25 * MINUTE);
        engine.look();
        assert.deepEqual(saidOf(engine, run).slice(already), said, `${what}, later`);
        seen.add(`${ticks} ${order}`);
        if (state !== "resolved") engine.resolve(run);
      }
      assert.deepEqual(engine.errors, []);
      assert.ok(seen.size > runs * 0.3, `${seen.size} different orders`);
      engine.close();
    },
  );

function saidOf(engine: Engine, alert: number): string[] {
  return engine.store
    .sql("SELECT event FROM events WHERE alert_id = ? ORDER BY id")
    .pluck()
    .all(alert) as string[];
}

function stateOf(engine: Engine, alert: number): unknown {
  return engine.store.sql("SELECT state FROM alerts WHERE id = ?").pluck().get(alert);
}

/** Pages that would still go to somebody's phone. */
function waiting(engine: Engine, alert: number): unknown[] {
  return engine.store
    .sql("SELECT event FROM deliveries WHERE alert_id = ? AND status = 'pending'")
    .pluck()
    .all(alert);
}

test("a ladder changes and the box is off before its alerts have followed: nobody is left out or paged twice", () => {
  const ladder = (...steps: ReturnType<typeof step>[]) => ({
    steps,
    passes: 1,
    pass_after_minutes: null,
    team: "",
  });
  const clock = machine();
  const rule = { ...(world.rules[0] as RuleBody), renotify_minutes: 0, escalations: [] };
  const ladders = new Map([["night", ladder(step(0, ["ann"]))]]);
  const engine = startEngine({
    path: join(directory, "off.db"),
    world: { ...world, rules: [{ ...rule, ladder: "night" }], ladders },
    machine: clock,
    random: seeded(1),
  });
  engine.event(0, "a");
  clock.pass(20 * MINUTE);
  engine.beat();
  const body = ladder(step(0, ["ann"]), step(10, ["bob"]), step(60, ["cat"]));
  engine.ladders.put({ name: "night", to: "night", body });
  engine.restart({ seconds: 120 * MINUTE, hidden: 0, crash: true });
  engine.look();
  engine.look();
  const paged = engine.store
    .sql("SELECT body ->> '$.page_accounts' FROM events WHERE event = 'alert.escalated'")
    .pluck();
  assert.deepEqual(paged.all(), ['["ann"]', '["bob","cat"]']);
  engine.close();
});
