import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { type AlertFilter, listAlerts } from "../../../src/core/alerts/list.ts";
import { createProject } from "../../../src/core/projects/projects.ts";
import type { Reader } from "../../../src/ground/store/store.ts";
import { type TestBox, testBox } from "../../support/box.ts";

const states = ["open", "acknowledged", "resolved"] as const;
const rules = ["errors", "disk", "never seen"];

interface Made {
  id: number;
  projectId: number;
  state: (typeof states)[number];
  rule: string;
  seq: number;
}

let box: TestBox;
let projects: number[];
const made: Made[] = [];
before(async () => {
  box = await testBox();
  box.tenant.store.write((tx) => {
    for (const name of ["a", "b", "c"]) createProject(tx, name);
  });
  projects = box.tenant.store.sql("SELECT id FROM projects").pluck().all() as number[];
  box.tenant.store.write((tx) => {
    const insert = tx.sql(
      `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
         first_seen, last_seen, last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
       VALUES (?, 1, ?, ?, ?, 't', 't', 400, 1, 1, 1, 'm', '{}', 0, ?, 1, 1)`,
    );
    for (let i = 0; i < 400; i += 1) {
      const projectId = projects[(i * 7) % projects.length] as number;
      const state = states[i % 5 === 0 ? 0 : i % 7 === 0 ? 1 : 2] as Made["state"];
      const rule = rules[i % 3 === 0 ? 0 : 1] as string;
      const seq = ((i * 37) % 400) + 1;
      const id = Number(insert.run(projectId, rule, `k${i}`, state, seq).lastInsertRowid);
      made.push({ id, projectId, state, rule, seq });
    }
  });
});
after(() => box.stop());

const filters = fc.record(
  {
    projectId: fc.nat(2).map((n) => projects[n] as number),
    states: fc.uniqueArray(fc.constantFrom(...states), { minLength: 1 }),
    rule: fc.constantFrom(...rules),
    before: fc.integer({ min: 0, max: 450 }),
    sinceSeq: fc.integer({ min: 0, max: 450 }),
    limit: fc.integer({ min: 1, max: 60 }),
  },
  { requiredKeys: ["limit"] },
) as fc.Arbitrary<AlertFilter>;

function expected(filter: AlertFilter): { ids: number[]; next: string | null } {
  const all = made.filter(
    (alert) =>
      (filter.projectId === undefined || alert.projectId === filter.projectId) &&
      (filter.states === undefined || filter.states.includes(alert.state)) &&
      (filter.rule === undefined || alert.rule === filter.rule) &&
      (filter.before === undefined || alert.id < filter.before) &&
      (filter.sinceSeq === undefined || alert.seq > filter.sinceSeq),
  );
  const bySeq = filter.sinceSeq !== undefined;
  all.sort((a, b) => (bySeq ? a.seq - b.seq : b.id - a.id));
  const shown = all.slice(0, filter.limit);
  const last = all.length > filter.limit ? shown.at(-1) : undefined;
  return {
    ids: shown.map(({ id }) => id),
    next: last === undefined ? null : String(bySeq ? last.seq : last.id),
  };
}

test("a page holds what its filter lets through, in order, and says how to go on", () => {
  fc.assert(
    fc.property(filters, (filter) => {
      const { alerts, next } = listAlerts(box.tenant.store, filter);
      assert.deepEqual({ ids: alerts.map(({ id }) => Number(id)), next }, expected(filter));
    }),
    { numRuns: 500 },
  );
});

test("no filter makes a page read the whole table or sort it", () => {
  const { store } = box.tenant;
  const asked = new Set<string>();
  const reader: Reader = {
    ...store,
    sql: (text) => {
      asked.add(text);
      return store.sql(text);
    },
  };
  fc.assert(
    fc.property(filters, (filter) => {
      listAlerts(reader, filter);
    }),
  );
  for (const text of asked) {
    const plan = store.db.prepare(`EXPLAIN QUERY PLAN ${text}`);
    const values = new Array((text.match(/\?/g) ?? []).length).fill(1);
    for (const { detail } of plan.all(...values) as { detail: string }[])
      if (!detail.includes("projects"))
        assert.match(detail, /^(SEARCH|CORRELATED)/, `${text}: ${detail}`);
  }
  assert.ok(asked.size > 10);
});

test("where few changes match, pages are short and still come to the end", () => {
  const { store } = box.tenant;
  store.write((tx) =>
    tx
      .sql(
        `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
         first_seen, last_seen, last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 25000)
       SELECT ?, 1, iif(i = 24000, 'rare', 'flood'), 'f' || i, 'resolved', 't', 't', 400, 1, 1, 1, 'm', '{}', 0,
         1000 + i, 1, 1 FROM n`,
      )
      .run(projects[0]),
  );
  const found: string[] = [];
  let pages = 0;
  for (let since: number | null = 0; since !== null; pages += 1) {
    const { alerts, next } = listAlerts(store, { rule: "rare", sinceSeq: since, limit: 10 });
    found.push(...alerts.map(({ rule }) => rule));
    since = next === null ? null : Number(next);
  }
  assert.deepEqual([found, pages], [["rare"], 3]);
  assert.equal(listAlerts(store, { rule: "rare", limit: 10 }).alerts.length, 1);
});
