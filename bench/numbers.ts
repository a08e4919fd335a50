import { sweepAlerts } from "../src/core/alerts/old-alerts.ts";
import { createProject } from "../src/core/projects/projects.ts";
import { finish, type Work } from "../src/ground/kit/slices.ts";
import type { Store, Tx } from "../src/ground/store/store.ts";
import { daysBefore, lookTotal, numbersOf } from "../src/records/numbers/numbers.ts";
import { readUntil, reckonSome } from "../src/records/numbers/reckon.ts";
import { type NumbersBy, numbersBy } from "../src/records/numbers/shape.ts";
import { percentile, type Row, type Scenario, withDirectory } from "./harness.ts";
import { open } from "./scale.ts";

/** Two years of a team: 30 people on ten schedules, ten projects of six rules, 5,000 alerts a month. */
const PEOPLE = 30;
const PROJECTS = 10;
const RULES = 6;
const A_MONTH = 5_000;
const DAY = 86_400;
const KEPT = 90 * DAY;
const NOW = 1_790_000_000;

export const numbers: Scenario = {
  name: "numbers",
  about: "figures over two years of 5,000 alerts a month, thirty people, 60 rules",
  run: (quick) =>
    withDirectory(async (directory) => {
      const months = quick ? 4 : 24;
      const store = open(directory, "numbers");
      furnish(store);
      const took: number[] = [];
      for (let month = 0; month < months; month++) {
        store.write((tx) => fill(tx, NOW - (months - month) * 30 * DAY));
        for (let more = true; more; ) {
          const before = performance.now();
          more = store.write((tx) => reckonSome(tx));
          took.push(performance.now() - before);
        }
      }
      store.write((tx) => {
        const old = { before: NOW - KEPT, counted: readUntil(tx), most: 200_000 };
        sweepAlerts(tx, old);
      });
      const bytes = store
        .sql<[], number>("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'number_%'")
        .pluck();
      const size = { what: "bytes of the sums", unit: "MiB", value: (bytes.get() ?? 0) / 2 ** 20 };
      const rows: Row[] = [
        { what: "a slice of 200 lines, p99", unit: "ms", lower: true, value: percentile(took, 99) },
        size,
      ];
      for (const by of numbersBy) {
        const all = await times(() => asked(store, by, months * 30));
        rows.push({ what: `two years by ${by}, p95`, ...in95(all), must: 50 });
      }
      const page = await times(async () => {
        for (const _ of ["now", "before"]) lookTotal(store, NOW, rangeOf(store, 28));
        for (const by of ["person", "rule", "week"] as const) await asked(store, by, 28);
      });
      return [
        ...rows,
        { what: "what the page reads of four weeks, p95", ...in95(page), must: 150 },
      ];
    }),
};

const in95 = (all: readonly number[]) => ({
  unit: "ms",
  lower: true,
  value: percentile(all, 95),
});

const rangeOf = (store: Store, days: number) => ({
  from: daysBefore(store, NOW, days - 1),
  to: NOW,
  project: null,
});

const slices = { run: async <T>(work: Work<T>) => finish(work) };

const asked = (store: Store, by: NumbersBy, days: number) =>
  numbersOf({ reader: store, slices }, { by, ...rangeOf(store, days) }, { now: NOW, viewer: "p0" });

async function times(run: () => unknown): Promise<number[]> {
  const all: number[] = [];
  for (let i = 0; i < 40; i++) {
    const before = performance.now();
    await run();
    all.push(performance.now() - before);
  }
  return all;
}

function furnish(store: Store): void {
  store.write((tx) => {
    for (let i = 0; i < PEOPLE; i++)
      tx.sql(
        `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
         VALUES (?, ?, ?, ?, '', 'owner', 0)`,
      ).run(`p${i}`, `p${i}@example.org`, `p${i}@example.org`, `Person ${i}`);
    for (let project = 1; project <= PROJECTS; project++) {
      createProject(tx, `project ${project}`);
      const people = [0, 1, 2].map((i) => `p${(project * 3 + i) % PEOPLE}`);
      const layer = {
        name: "l",
        participants: people,
        rotation_start: 0,
        shift_minutes: 10_080,
        restriction: null,
      };
      tx.sql(
        `INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at)
         VALUES (?, ?, 'primary', 'UTC', ?, 0, 0)`,
      ).run(`s${project}`, project, JSON.stringify([layer]));
      for (let rule = 0; rule < RULES; rule++)
        tx.sql(
          "INSERT INTO rules (project_id, name, body, created_at, updated_at) VALUES (?, ?, '{}', 0, 0)",
        ).run(project, `rule ${rule}`);
    }
  });
}

/** A month of alerts: each pages one person by two contacts, every third a second one; most are taken, all end. */
function fill(tx: Tx, from: number): void {
  const first = (tx.sql<[], number | null>("SELECT max(id) FROM alerts").pluck().get() ?? 0) + 1;
  tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${A_MONTH - 1}),
      a AS (SELECT ${first} + i AS id, 1 + (i * 7) % ${PROJECTS * RULES} AS rule,
        ${from} + i * ${Math.floor((30 * DAY) / A_MONTH)} AS at FROM n)
    INSERT INTO alerts (id, project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen,
      last_seen, last_message, identifiers, investigate, updated_seq, opened_at, resolved_at, ladder_from)
    SELECT id, 1 + (rule - 1) / ${RULES}, rule, 'r', 'bench:' || id, 'resolved', 't', 't', 300 + 100 * (id % 3), 3, at, at, 'm',
      '{}', 0, id, at, at + 900, at FROM a;
    INSERT INTO timeline (alert_id, at, kind, account_id, detail)
    SELECT a.id, a.opened_at + s.value ->> 0, s.value ->> 1, iif(s.value ->> 1 = 'acknowledged', 'p' || (a.rule_id % ${PEOPLE}), NULL),
      replace(replace(s.value ->> 2, '"WHO"', '"p' || ((a.rule_id + (s.value ->> 3)) % ${PEOPLE}) || '"'), '"RUNG"', a.id * 4 + (s.value ->> 3))
    FROM alerts a, json_each('[[0,"opened",{"count":1,"level":400},0],[0,"escalated",{"level":1},0],
      [2,"page_sent",{"account":"WHO","contact":"web_push","rung":"RUNG"},0],
      [3,"page_sent",{"account":"WHO","contact":"email","rung":"RUNG"},0],
      [6,"shown",{"account":"WHO","contact":"web_push","rung":"RUNG"},0],
      [300,"page_sent",{"account":"WHO","contact":"voice","rung":"RUNG"},1],
      [400,"acknowledged",{},0],[900,"resolved",{"count":3},0]]') s
    WHERE a.id >= ${first} AND (s.value ->> 3 = 0 OR a.id % 3 = 0) AND (s.value ->> 1 <> 'acknowledged' OR a.id % 4 <> 0)
    ORDER BY a.opened_at + (s.value ->> 0), a.id`);
}
