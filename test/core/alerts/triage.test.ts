import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { AlertState } from "../../../src/core/alerts/alert.ts";
import { countAlerts } from "../../../src/core/alerts/counts.ts";
import { readAlertQuery, type TriageFilter } from "../../../src/core/alerts/query.ts";
import { triage } from "../../../src/core/alerts/triage.ts";
import { createProject } from "../../../src/core/projects/projects.ts";
import type { Store } from "../../../src/ground/store/store.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import fc, { anyCharacter } from "../../support/property.ts";

/** Lists as people work through them, beside a model that filters and sorts all there is. */

const states = ["open", "acknowledged", "resolved"] as const;
const rules = ["errors", "Slow payments"];
const projectNames = ["a", "b", "c"];

interface Made {
  id: number;
  project: number;
  state: AlertState;
  rule: string;
  level: number;
  seq: number;
  silenced: boolean;
  provider: string;
  people: string[];
}

let box: TestBox;
let projects: number[];
const made: Made[] = [];
before(async () => {
  box = await testBox();
  const { store } = box.tenant;
  store.write((tx) => {
    for (const name of projectNames) createProject(tx, name);
  });
  projects = store.sql<[], number>("SELECT id FROM projects").pluck().all();
  store.write((tx) => {
    const insert = tx.sql<(string | number | null)[]>(
      `INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
         first_seen, last_seen, last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
       VALUES (?, 1, ?, ?, 'open', 't', 'payment <*> failed', ?, 1, 1, 1, ?, ?, 0, ?, 1, 1)`,
    );
    for (let i = 0; i < 400; i += 1) {
      const one: Omit<Made, "id"> = {
        project: projects[(i * 7) % 3] as number,
        state: states[i % 5 === 0 ? 1 : i % 3 === 0 ? 0 : 2] as AlertState,
        rule: rules[i % 4 === 0 ? 1 : 0] as string,
        level: [200, 300, 400, 450, 500][(i * 11) % 5] as number,
        seq: ((i * 37) % 400) + 1,
        silenced: i % 3 === 0 && i % 5 !== 0 && i % 6 === 0,
        provider: i % 2 === 0 ? "Acme" : "other",
        people: i % 9 === 0 ? ["ann"] : i % 7 === 0 ? ["bob", "ann"] : [],
      };
      const { project, rule, level, seq, provider } = one;
      const id = Number(
        insert.run(
          project,
          rule,
          `k${i}`,
          level,
          `payment ${i} failed: 100% ÄRGER`,
          JSON.stringify({ provider }),
          seq,
        ).lastInsertRowid,
      );
      const set = (column: string, value: string | null) =>
        tx
          .sql<[string | null, number]>(`UPDATE alerts SET ${column} = ? WHERE id = ?`)
          .run(value, id);
      if (one.people.length > 0) set("page_accounts", JSON.stringify(one.people));
      if (one.silenced) set("silenced_by", "s");
      if (one.state !== "open") set("state", one.state);
      made.push({ ...one, id });
    }
  });
});
after(() => box.stop());

const texts: Record<string, (one: Made) => boolean> = {
  "": () => true,
  "#17": ({ id }) => id === 17,
  "level:error": ({ level }) => level >= 400 && level < 500,
  "level:critical": ({ level }) => level >= 500,
  "level:450": ({ level }) => level === 450,
  'rule:"slow payments"': ({ rule }) => rule === "Slow payments",
  "key:provider=Acme level:warn": ({ provider, level }) => provider === "Acme" && level === 300,
  "project:b ärger": ({ project }) => project === projects[1],
  "key:nothing": () => false,
  "PAYMENT 12": ({ id }) => `${id - 1}`.includes("12"),
  '"100% ä"': () => true,
  "level:strange": () => false,
};

const filters = fc.record(
  {
    order: fc.constantFrom("newest", "need"),
    projectId: fc.nat(2).map((n) => projects[n] as number),
    states: fc.uniqueArray(fc.constantFrom(...states), { minLength: 1 }),
    rule: fc.constantFrom(...rules, "never seen"),
    min_level: fc.constantFrom(0, 300, 401, 500, 501),
    silenced: fc.boolean(),
    mine: fc.constantFrom("ann", "bob", "nobody"),
    q: fc.constantFrom(...Object.keys(texts)),
    limit: fc.integer({ min: 1, max: 60 }),
  },
  { requiredKeys: ["order", "limit"] },
) as fc.Arbitrary<TriageFilter>;

function expected(filter: TriageFilter): number[] {
  const { order, projectId, min_level: minLevel = 0, rule, silenced, mine, q = "" } = filter;
  const isNeed = order === "need" && !q.startsWith("#");
  const rank = (one: Made) => (isNeed ? states.indexOf(one.state) : 0);
  const key = (one: Made) => (!isNeed ? one.id : one.state === "open" ? one.level : one.seq);
  return made
    .filter((one) => projectId === undefined || one.project === projectId)
    .filter((one) => filter.states === undefined || filter.states.includes(one.state))
    .filter((one) => rule === undefined || one.rule === rule)
    .filter((one) => one.level >= minLevel)
    .filter((one) => silenced === undefined || one.silenced === silenced)
    .filter((one) => mine === undefined || one.people.includes(mine))
    .filter(texts[q] as (one: Made) => boolean)
    .sort((a, b) => rank(a) - rank(b) || key(b) - key(a) || b.id - a.id)
    .map(({ id }) => id);
}

describe("a list of alerts", () => {
  test("page by page holds what its filter lets through, in its order, each once", async () => {
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        const all = expected(filter);
        const found: number[] = [];
        for (let after: string | undefined; ; ) {
          const page = await triage(box.tenant.store, { ...filter, after });
          assert.ok(page.complete);
          assert.ok(page.rows.length <= filter.limit);
          found.push(...page.rows.map(({ id }) => id));
          if (page.next === null) break;
          assert.equal(page.rows.length, filter.limit);
          after = page.next;
        }
        assert.deepEqual(found, all);
      }),
      { numRuns: 150 },
    );
  });

  test("reads no table and sorts nothing that an index holds in order", async () => {
    const { store } = box.tenant;
    const asked = new Set<string>();
    const reader: Store = {
      ...store,
      sql: (text) => {
        asked.add(text);
        return store.sql(text);
      },
    };
    await fc.assert(
      fc.asyncProperty(filters, async (filter) => {
        await triage(reader, filter);
        countAlerts(reader, { projectId: filter.projectId, accountId: "ann" });
      }),
    );
    for (const text of asked) {
      const names = [...text.matchAll(/:(\w+)/g)].map((found) => [found[1], 1]);
      const values = new Array((text.match(/\?/g) ?? []).length).fill(1);
      const plan = store.db.prepare(`EXPLAIN QUERY PLAN ${text}`);
      const rows = plan.all(...(names.length > 0 ? [Object.fromEntries(names)] : values));
      for (const { detail } of rows as { detail: string }[])
        if (!/projects|alert_counts|FOR GROUP BY|CO-ROUTINE|SCAN (m|\(subquery)/.test(detail))
          assert.match(detail, /^(SEARCH|CORRELATED|SCALAR)/, `${text}: ${detail}`);
    }
    assert.ok(asked.size > 10);
  });

  test("ends when its time is up and says so; the next page goes on", async () => {
    const { store } = box.tenant;
    let ms = 0;
    // Each look at the clock finds a millisecond gone.
    const slow: Store = { ...store, clock: { ...store.clock, mono: () => ms++ } };
    const found: number[] = [];
    let cut = 0;
    for (let after: string | undefined; ; ) {
      const filter = { order: "need", q: "key:provider=Acme", limit: 500, after } as const;
      const page = await triage(slow, filter);
      found.push(...page.rows.map(({ id }) => id));
      if (page.next === null) break;
      assert.equal(page.complete, false);
      after = page.next;
      cut++;
    }
    assert.ok(cut > 2, `${cut} pages`);
    assert.deepEqual(found, all("Acme"));
  });
});

function all(provider: string): number[] {
  const wanted = new Set(made.filter((one) => one.provider === provider).map(({ id }) => id));
  return expected({ order: "need", limit: 1 }).filter((id) => wanted.has(id));
}

test("what somebody typed is read as they meant it, whatever they typed", () => {
  assert.deepEqual(
    readAlertQuery('level:warn rule:"slow  one" key:a=b key:"c d" #7 foo:bar Straße "two words'),
    {
      id: 7,
      level: { from: 300, below: 400 },
      rule: "slow  one",
      project: null,
      keys: [
        { name: "a", value: "b" },
        { name: "c d", value: null },
      ],
      labels: [],
      words: ["foo:bar", "straße", "two words"],
    },
  );
  assert.deepEqual(readAlertQuery('key:a="b c" x=y').keys, [{ name: "a", value: "b c" }]);
  assert.deepEqual(readAlertQuery("a=b").words, ["a=b"]);
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), (text) => {
      readAlertQuery(text);
    }),
  );
});
