import { join } from "node:path";
import { sweepAlerts } from "../src/core/alerts/old-alerts.ts";
import { createProject } from "../src/core/projects/projects.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { finish, type Work } from "../src/ground/kit/slices.ts";
import { setMeta } from "../src/ground/store/meta.ts";
import { openStore, type Store, type Tx } from "../src/ground/store/store.ts";
import { reckonDuty } from "../src/records/numbers/duty.ts";
import { readUntil, reckonSome } from "../src/records/numbers/reckon.ts";
import { numbersBy } from "../src/records/numbers/shape.ts";
import { testBox } from "../test/support/box.ts";
import { signedIn } from "../test/support/console.ts";
import { defaultRule, step } from "../test/support/plane.ts";
import { median, percentile, type Row, type Scenario, withDirectory } from "./harness.ts";

/** Two years of a team: 30 people on ten schedules, ten projects of six rules, 5,000 alerts a month. */
const PEOPLE = 30;
const PROJECTS = 10;
const RULES = 6;
const A_MONTH = 5_000;
const DAY = 86_400;
const KEPT = 90 * DAY;
const NOW = 1_790_000_000;

/** Rules whose alerts their sender ends in three minutes, and after them those of which nobody ever takes one. */
const BRIEF = 6;
const UNHEEDED = 12;
const MOST_ADVICE = 10;
const ASKED = 40;

export const numbers: Scenario = {
  name: "numbers",
  about:
    "figures over two years of 5,000 alerts a month, thirty people, 60 rules, asked of a running box",
  run: (quick) =>
    withDirectory(async (directory) => {
      const months = quick ? 4 : 24;
      const began = performance.now();
      const clock = { ...systemClock, now: () => NOW * 1000 + (performance.now() - began) };
      const path = join(directory, "box.db");
      const store = openStore({ path, kind: "box", clock, random: systemRandom });
      const slice = await fillAll(store, months);
      const bytes = store
        .sql<[], number>("SELECT sum(pgsize) FROM dbstat WHERE name LIKE 'number_%'")
        .pluck()
        .get();
      store.close();
      const size = { what: "bytes of the sums", unit: "MiB", value: (bytes ?? 0) / 2 ** 20 };
      const box = await testBox({ data: directory }, clock as never);
      try {
        const span = `from=${NOW - months * 30 * DAY}&to=${NOW}`;
        const rows: Row[] = [...slice, size];
        for (const by of numbersBy)
          rows.push(
            ...(await asked(`GET /v1/numbers of two years by ${by}`, 50, async () => {
              const { status, body } = await box.api("GET", `/v1/numbers?by=${by}&${span}`);
              if (status !== 200 || !body.complete) throw new Error(JSON.stringify(body));
            })),
          );
        const tab = signedIn(box);
        for (const weeks of [4, 104])
          rows.push(
            ...(await asked(`the page of ${weeks} weeks, filled with advice`, 150, async () => {
              const { status, text } = await tab.get(`/numbers?weeks=${weeks}`);
              const cards = text.match(/<section class="card"/g)?.length ?? 0;
              if (status !== 200 || cards !== MOST_ADVICE)
                throw new Error(`${status}, ${cards} proposals: ${text.slice(0, 300)}`);
            })),
          );
        return rows;
      } finally {
        await box.stop();
      }
    }),
};

/** Time by the clock, and what of it was work: the process's CPU time, with the client's, tells more on a busy machine. */
async function asked(what: string, must: number, run: () => Promise<unknown>): Promise<Row[]> {
  const all: number[] = [];
  for (let i = 0; i < 5; i++) await run();
  const from = process.cpuUsage();
  for (let i = 0; i < ASKED; i++) {
    const before = performance.now();
    await run();
    all.push(performance.now() - before);
  }
  const ms = { unit: "ms", lower: true };
  return [
    { what: `${what}, p95`, ...ms, value: percentile(all, 95), low: median(all), must },
    { what: "  of it CPU", ...ms, value: cpuSince(from) / ASKED },
  ];
}

function cpuSince(from: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(from);
  return (user + system) / 1000;
}

/** Month by month, each reckoned as a box does; then retention takes the alerts, and hours on call are reckoned day by day. */
async function fillAll(store: Store, months: number): Promise<Row[]> {
  furnish(store);
  const took: number[] = [];
  let cpu = 0;
  for (let month = 0; month < months; month++) {
    store.write((tx) => fill(tx, NOW - (months - month) * 30 * DAY));
    const from = process.cpuUsage();
    for (let more = true; more; ) {
      const before = performance.now();
      more = store.write((tx) => reckonSome(tx));
      took.push(performance.now() - before);
    }
    cpu += cpuSince(from);
  }
  store.write((tx) => {
    const old = { before: NOW - KEPT, counted: readUntil(tx), most: 200_000 };
    sweepAlerts(tx, old);
    setMeta(tx, "numbers_duty", Math.floor(NOW / DAY) - months * 30);
  });
  while (await reckonDuty({ reader: store, slices }, NOW));
  store.db.pragma("wal_checkpoint(TRUNCATE)");
  const ms = { unit: "ms", lower: true };
  return [
    { what: "a slice of 200 lines, p99", ...ms, value: percentile(took, 99), low: median(took) },
    { what: "  of it CPU, mean", ...ms, value: cpu / took.length },
  ];
}

const slices = { run: async <T>(work: Work<T>) => finish(work) };

const body = (people: string[]) =>
  JSON.stringify({ ...defaultRule, escalations: [step(0, people.slice(0, 1)), step(5, people)] });

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
          "INSERT INTO rules (project_id, name, body, created_at, updated_at) VALUES (?, ?, ?, 0, 0)",
        ).run(project, `rule ${rule}`, body(people));
    }
  });
}

/** A month of alerts: each pages one person by two contacts, every third a second one; most are taken but of some rules, all end. */
function fill(tx: Tx, from: number): void {
  const first = (tx.sql<[], number | null>("SELECT max(id) FROM alerts").pluck().get() ?? 0) + 1;
  tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${A_MONTH - 1}),
      a AS (SELECT ${first} + i AS id, 1 + (i * 7) % ${PROJECTS * RULES} AS rule,
        ${from} + i * ${Math.floor((30 * DAY) / A_MONTH)} AS at FROM n)
    INSERT INTO alerts (id, project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen,
      last_seen, last_message, identifiers, investigate, updated_seq, opened_at, resolved_at, ladder_from, dedup_key)
    SELECT id, 1 + (rule - 1) / ${RULES}, rule, 'r', 'bench:' || id, 'resolved', 't', 't', 300 + 100 * (id % (3 - (rule <= ${UNHEEDED}))),
      3, at, at, 'm', '{}', 0, id, at, at + iif(rule <= ${BRIEF}, 180, 900), at, iif(rule <= ${BRIEF}, 'name ' || id, NULL) FROM a;
    INSERT INTO timeline (alert_id, at, kind, account_id, detail)
    SELECT a.id, a.opened_at + iif(s.value ->> 0 = 900, a.resolved_at - a.opened_at, s.value ->> 0), s.value ->> 1, iif(s.value ->> 1 = 'acknowledged', 'p' || (a.rule_id % ${PEOPLE}), NULL),
      iif(s.value ->> 1 = 'resolved' AND a.rule_id <= ${BRIEF}, '{"count":3,"by":"source"}', replace(replace(s.value ->> 2, '"WHO"', '"p' || ((a.rule_id + (s.value ->> 3)) % ${PEOPLE}) || '"'), '"RUNG"', a.id * 4 + (s.value ->> 3)))
    FROM alerts a, json_each('[[0,"opened",{"count":1,"level":400},0],[0,"escalated",{"level":1},0],
      [2,"page_sent",{"account":"WHO","contact":"web_push","rung":"RUNG"},0],
      [3,"page_sent",{"account":"WHO","contact":"email","rung":"RUNG"},0],
      [6,"shown",{"account":"WHO","contact":"web_push","rung":"RUNG"},0],
      [300,"page_sent",{"account":"WHO","contact":"voice","rung":"RUNG"},1],
      [400,"acknowledged",{},0],[900,"resolved",{"count":3},0]]') s
    WHERE a.id >= ${first} AND (s.value ->> 3 = 0 OR (a.id % 3 = 0 AND a.rule_id > ${BRIEF}))
      AND (s.value ->> 1 <> 'acknowledged' OR (a.id % 4 <> 0 AND a.rule_id > ${UNHEEDED}))
    ORDER BY 2, a.id`);
}
