import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { listAlerts } from "../src/core/alerts/list.ts";
import { createProject, getProject } from "../src/core/projects/projects.ts";
import { createSource, findSource } from "../src/core/projects/sources.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { finish } from "../src/ground/kit/slices.ts";
import { openStore, type Store } from "../src/ground/store/store.ts";
import { readLogTail } from "../src/in/ingest/logtail.ts";
import { createWriter, defaultWriterLimits } from "../src/in/ingest/writer.ts";
import { createRetention } from "../src/tenant/retention.ts";
import { median, percentile, type Row, type Scenario, withDirectory } from "./harness.ts";

export function open(directory: string, name: string): Store {
  return openStore({
    path: join(directory, `${name}.db`),
    kind: "box",
    clock: systemClock,
    random: systemRandom,
  });
}

export function seed(store: Store, rules: number) {
  return store.write((tx) => {
    createProject(tx, "p");
    const project = getProject(tx, "p");
    const { token } = createSource(tx, project, {
      tenantId: "0123456789abcdef",
      name: "s",
      retainLogs: false,
    });
    const body = (i: number) =>
      JSON.stringify({
        match: {
          min_level: 300,
          sources: [],
          tags: i % 2 ? ["auth"] : [],
          template_contains: `needle ${i}`,
        },
        conditions: [],
        fire_after: { count: 1, distinct_sources: 1, window_minutes: 1 },
        dedup_window_minutes: 0,
        auto_resolve_quiet_minutes: 0,
        renotify_minutes: 0,
        max_renotify: 0,
        identifier_keys: ["n"],
        investigate: false,
        actions: null,
        escalations: [],
      });
    for (let i = 0; i < rules; i++) {
      const rule = i === 0 ? body(0).replace("needle 0", "") : body(i);
      tx.sql(
        "INSERT INTO rules (project_id, name, body, created_at, updated_at) VALUES (?, ?, ?, 0, 0)",
      ).run(project.id, `r${i}`, rule);
    }
    return { project, source: findSource(tx, token) };
  });
}

/** Alerts that stand, straight into the table: opening each would measure something else. */
function standing(store: Store, n: number): void {
  store.write((tx) => {
    tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})
      INSERT INTO alerts (project_id, rule_id, rule, alert_key, state, template_id, template, level, count, first_seen, last_seen,
        last_message, identifiers, investigate, updated_seq, opened_at, ladder_from)
      SELECT 1, 1, 'r0', 'seed:' || i, 'open', 't', 'a template of <*>', 400, 1, 0, 0, 'a message', '{}', 0, i, 0, 0 FROM n`);
  });
}

/** Microseconds an event that folds into one of 50 standing alerts or matches nothing. */
function costPerEvent(store: Store, source: NonNullable<ReturnType<typeof findSource>>): number {
  const writer = createWriter(store, defaultWriterLimits);
  const batch = Array.from({ length: 50 }, (_, i) => ({
    source,
    event: {
      message: `login of user ${i * 7} took ${i} ms`,
      level: i % 2 ? 400 : 200,
      keys: { n: String(i) },
      tags: ["auth"],
    },
  }));
  const costs: number[] = [];
  for (let i = 0; i < 300; i++) {
    const before = process.cpuUsage();
    writer.process(batch);
    const used = process.cpuUsage(before);
    if (i > 100) costs.push((used.user + used.system) / batch.length);
  }
  return median(costs);
}

export const scale: Scenario = {
  name: "scale",
  about: "an event's cost at 1 million standing alerts and 200 rules, beside 100 and 20",
  run: (quick) =>
    withDirectory(async (directory) => {
      const cost = (name: string, alerts: number, rules: number) => {
        const store = open(directory, name);
        const { source } = seed(store, rules);
        if (source === null) throw new Error("no source");
        standing(store, alerts);
        const result = costPerEvent(store, source);
        store.close();
        return result;
      };
      const small = cost("small", 100, 20);
      const large = cost("large", quick ? 100_000 : 1_000_000, 200);
      return [
        {
          what: "cost at many alerts and rules / at few",
          unit: "ratio",
          value: large / small,
          must: 2,
          aim: 1.2,
          lower: true,
        },
        { what: "cost at few", unit: "µs", value: small },
        { what: "cost at many", unit: "µs", value: large },
      ];
    }),
};

export const reads: Scenario = {
  name: "reads",
  about: "log tail on 10 million lines, alerts list on 1 million, retention of 10 million lines",
  run: (quick) =>
    withDirectory(async (directory) => {
      const lines = quick ? 500_000 : 10_000_000;
      const alerts = quick ? 100_000 : 1_000_000;
      const store = open(directory, "reads");
      seed(store, 1);
      const now = Math.floor(Date.now() / 1000);
      fillLines(store, lines, now - 30 * 86_400);
      standing(store, alerts);
      // Filling in transactions of a quarter of a million rows leaves a log that no box has.
      store.db.pragma("wal_checkpoint(TRUNCATE)");
      const rows: Row[] = [
        timed("log tail of a project", () =>
          finish(readLogTail(store, 1, { limit: 200, rootOf: (id) => id })),
        ),
        timed("log tail of a rare template", () =>
          finish(readLogTail(store, 1, { limit: 200, template: "rare", rootOf: (id) => id })),
        ),
        timed("alerts list, newest", () => listAlerts(store, { limit: 100 })),
        timed("alerts list by updated_seq", () =>
          listAlerts(store, { sinceSeq: alerts - 100, limit: 100 }),
        ),
      ];
      const retention = createRetention(store, {
        logDays: 7,
        logBytes: 2 ** 40,
        historyDays: 90,
        numbersDays: 800,
      });
      const slices: number[] = [];
      const syncs: number[] = [];
      const plain = openSync(join(directory, "plain"), "a");
      for (let more = true; more; ) {
        slices.push(elapsed(() => (more = retention.slice())));
        syncs.push(elapsed(() => plainSync(plain)));
      }
      closeSync(plain);
      rows.push(
        {
          what: `retention of ${lines} lines, longest slice`,
          unit: "ms",
          value: Math.max(...slices),
          must: 50,
          aim: 20,
          lower: true,
        },
        { what: "retention, p99 of slices", unit: "ms", value: percentile(slices, 99) },
        { what: "retention, all slices", unit: "s", value: sum(slices) / 1000 },
        { what: "longest plain write and sync in between", unit: "ms", value: Math.max(...syncs) },
        { what: "their p99", unit: "ms", value: percentile(syncs, 99) },
      );
      store.close();
      return rows;
    }),
};

/** Milliseconds that it takes. */
function elapsed(run: () => unknown): number {
  const before = performance.now();
  run();
  return performance.now() - before;
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

/** What the disk alone does with a few pages: no slice can be surer to be quick than this. */
function plainSync(file: number): void {
  writeSync(file, Buffer.alloc(16 * 4096));
  fdatasyncSync(file);
}

function timed(what: string, read: () => unknown): Row {
  const times = Array.from({ length: 30 }, () => elapsed(read));
  return { what, unit: "ms", value: median(times), high: Math.max(...times) };
}

/** Lines with their blocks, as the writer leaves them: one template in a hundred blocks is rare. */
function fillLines(store: Store, n: number, at: number): void {
  for (let from = 0; from < n; from += 250_000) {
    store.write((tx) => {
      tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT ${from + 1} UNION ALL SELECT i + 1 FROM n WHERE i < ${Math.min(n, from + 250_000)})
        INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message)
        SELECT i, 1, 1, ${at}, 200, CASE WHEN i % 102400 = 7 THEN 'rare' ELSE 't' || (i % 40) END,
          'a message of the usual length that says what happened to user ' || i FROM n;
        INSERT OR IGNORE INTO log_blocks SELECT DISTINCT 1, template_id, id / 1024 FROM log_lines WHERE id > ${from};
        INSERT OR IGNORE INTO log_blocks SELECT DISTINCT 1, '', id / 1024 FROM log_lines WHERE id > ${from}`);
    });
  }
}
