import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { createRule } from "../../src/core/alerts/rules.ts";
import { insertLadder } from "../../src/core/projects/ladders.ts";
import { createProject, getProject } from "../../src/core/projects/projects.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { machine } from "../simulation/engine.ts";
import { run } from "../support/children.ts";
import { memoryOrTemp } from "../support/memory.ts";
import { defaultRule, step } from "../support/plane.ts";
import { changeAndFollow, LADDER, openLater } from "./ladder-change.ts";

const ALERTS = 200;
/** One of so many writes, a prime so that they are of all kinds; DEEP=1 kills at each. */
const EVERY = process.env["DEEP"] === "1" ? 1 : 211;

const program = join(import.meta.dirname, "ladder-kill.ts");

test("a ladder of 200 open alerts changes and the box is killed at a write: each follows once, nobody is paged twice or never", async (t) => {
  const directory = mkdtempSync(join(memoryOrTemp(), "box-ladder-kill-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const [into, path] = [join(directory, "killed"), join(directory, "lived", "box.db")];
  for (const made of [into, dirname(path)]) mkdirSync(made);
  make(path);
  const { out, err } = await run(program, [path, into, EVERY]);
  const writes = Number(out);
  assert.ok(writes > 5 * ALERTS, err);
  proved(path);
  for (let n = EVERY; n <= writes; n += EVERY) {
    const killed = join(into, String(n), "box.db");
    const store = openLater(killed);
    changeAndFollow(store);
    store.close();
    proved(killed, n);
    rmSync(dirname(killed), { recursive: true });
  }
});

/** Alerts that paged Ann at their opening, twenty minutes before the ladder changes. */
function make(path: string): void {
  const store = openStore({ path, kind: "box", clock: machine(), random: systemRandom });
  store.write((tx) => {
    for (const id of ["ann", "bob", "cat"])
      tx.sql(
        `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
         VALUES (?, ?, ?, ?, '', 'member', ?)`,
      ).run(id, id, id, id, tx.at);
    createProject(tx, "p");
    insertLadder(tx, { name: "night", ...LADDER, steps: [step(0, ["ann"])] });
    const body = { ...defaultRule, ladder: "night" };
    const rules = [1, 2, 3].map((n) =>
      createRule(tx, getProject(tx, "p"), { name: `rule ${n}`, body }),
    );
    for (let n = 0; n < ALERTS; n += 1) {
      const rule = rules[n % rules.length] as (typeof rules)[0];
      tx.sql(
        `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen, last_seen,
           last_message, identifiers, investigate, updated_seq, opened_at, ladder_from, step, escalation_level, page_accounts)
         VALUES (?, ?, ?, ?, 'open', 't', 't', 400, 1, ?, ?, 'm', '{}', 0, ?, ?, ?, 1, 1, '["ann"]')`,
      ).run(rule.project_id, rule.id, rule.name, `key ${n}`, tx.at, tx.at, n, tx.at, tx.at);
    }
  });
  store.close();
}

function proved(path: string, n = 0): void {
  const store = openLater(path);
  const count = (sql: string) =>
    store.sql(`SELECT count(*) AS n, count(DISTINCT alert_id) AS alerts FROM ${sql}`).get();
  const once = { n: ALERTS, alerts: ALERTS };
  const what = `killed before write ${n}`;
  assert.deepEqual(count("timeline WHERE kind = 'retimed'"), once, what);
  assert.deepEqual(count("timeline WHERE kind = 'escalated'"), once, what);
  assert.deepEqual(
    count(`events WHERE event = 'alert.escalated' AND body ->> '$.page_accounts' = '["bob"]'`),
    once,
    what,
  );
  assert.equal(store.sql("SELECT count(*) FROM ladder_followers").pluck().get(), 0, what);
  const cat = "SELECT count(*) FROM alerts WHERE step = 2 AND step_at = ladder_from + 3600";
  assert.equal(store.sql(cat).pluck().get(), ALERTS, what);
  store.close();
}
