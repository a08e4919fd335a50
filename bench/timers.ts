import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openAlert } from "../src/core/alerts/open.ts";
import { createRule } from "../src/core/alerts/rules.ts";
import { createSweep } from "../src/core/alerts/sweep.ts";
import { createProject, getProject } from "../src/core/projects/projects.ts";
import { type RuleBody, ruleReplace, type StoredRule } from "../src/core/projects/rule.ts";
import type { Clock } from "../src/ground/kit/clock.ts";
import { silentLog } from "../src/ground/kit/log.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { steadyClock } from "../src/ground/kit/steady-clock.ts";
import { openStore, type Store } from "../src/ground/store/store.ts";
import { startClockWatch } from "../src/tenant/clock-watch.ts";

/**
 * node bench/timers.ts [--alerts N] [--due SHARE …] [--data DIR] [--json]: what timed work costs with many
 * open alerts, of which a share owes a page after the restart (a tenth, then all). Prints a table, or with --json
 * one object a line. Limits: a due scan 5 ms, a restart settled within 5 s, a turn about 20 ms.
 */
const { values } = parseArgs({
  options: {
    alerts: { type: "string", default: "100000" },
    due: { type: "string", multiple: true, default: ["0.1", "1"] },
    data: { type: "string", default: tmpdir() },
    json: { type: "boolean", default: false },
  },
});
const alerts = Number(values.alerts);

/** Real time, and an offset for the time the box is off. */
let off = 0;
const clock: Clock = {
  now: () => Math.floor(performance.timeOrigin + performance.now()) + off,
  mono: () => performance.now(),
  after: () => () => {},
};

const rest = ruleReplace.parse({
  auto_resolve_quiet_minutes: 1440,
  max_open: 0,
  identifier_keys: ["host"],
});

const steps = (first: number): RuleBody["escalations"] => [
  { accounts: ["ann"], schedules: [], after_minutes: first, repeat_minutes: 30 },
  { accounts: [], schedules: ["duty"], after_minutes: 600, repeat_minutes: 60 },
];

/** A rule whose first step falls into the time off, and one whose doesn't. */
function build(store: Store): { soon: StoredRule; later: StoredRule } {
  return store.write((tx) => {
    tx.sql(
      `INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
       VALUES ('ann', 'a', 'a', 'a', '', 'member', 0)`,
    ).run();
    createProject(tx, "p");
    const project = getProject(tx, "p");
    const layer = { name: "all", participants: ["ann"], rotation_start: 0, shift_minutes: 1440 };
    tx.sql(
      `INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at)
       VALUES ('s', ?, 'duty', 'Europe/London', ?, 0, 0)`,
    ).run(project.id, JSON.stringify([{ ...layer, restriction: null }]));
    tx.sql(
      `INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, created_at)
       VALUES ('w', ?, 'w', 'webhook', '', 1, '', 0)`,
    ).run(project.id);
    tx.sql("INSERT INTO meta (key, value) VALUES ('tenant_id', 't')").run();
    return {
      soon: createRule(tx, project, { name: "soon", body: { ...rest, escalations: steps(60) } }),
      later: createRule(tx, project, { name: "later", body: { ...rest, escalations: steps(300) } }),
    };
  });
}

function open(store: Store, rules: { soon: StoredRule; later: StoredRule }, due: number): void {
  for (let from = 0; from < alerts; from += 1000)
    store.write((tx) => {
      for (let i = from; i < Math.min(alerts, from + 1000); i += 1)
        openAlert(tx, {
          projectId: 1,
          rule: (i * due) % 1 < due ? rules.soon : rules.later,
          alertKey: `1:${i}`,
          templateId: "t",
          template: "disk <*> is failing",
          level: 400,
          count: 1,
          firstSeen: tx.at,
          lastMessage: `disk ${i} is failing and somebody should have a look at it`,
          source: "app",
          isOfOneSource: true,
          identifiers: { host: `host-${i}` },
        });
    });
}

function timed<T>(work: () => T): { ms: number; result: T } {
  const began = performance.now();
  const result = work();
  return { ms: performance.now() - began, result };
}

function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))] ?? 0;
}

/** Runs the sweep to the end, a turn at a time, as the loop does. */
async function settleAll(sweep: ReturnType<typeof createSweep>): Promise<number[]> {
  const turns: number[] = [];
  for (let more = true; more; ) {
    const { ms, result } = timed(() => sweep.run(Math.floor(clock.now() / 1000)));
    turns.push(ms);
    more = result !== null && result <= clock.now() / 1000;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return turns;
}

async function measure(path: string, due: number) {
  off = 0;
  const start = () => {
    const steady = steadyClock(clock);
    const store = openStore({ path, kind: "box", clock: steady, random: systemRandom });
    return { store, steady, sweep: createSweep(store, silentLog) };
  };
  let box = start();
  startClockWatch({ store: box.store, clock: box.steady, log: silentLog }).stop();
  const rules = build(box.store);
  const opened = timed(() => open(box.store, rules, due));

  const scans = Array.from({ length: 1000 }, () => timed(() => box.sweep.run(0)).ms).toSorted(
    (a, b) => a - b,
  );

  // Off for 90 minutes: alerts owe their first step, and their quiet must not have counted.
  box.store.close();
  off += 90 * 60_000;
  const restart = performance.now();
  box = start();
  const watch = startClockWatch({ store: box.store, clock: box.steady, log: silentLog });
  const began = performance.now();
  const cpu = process.cpuUsage();
  const turns = await settleAll(box.sweep);
  const settled = performance.now();
  const used = process.cpuUsage(cpu);

  // A jump of the clock moves all of it.
  off += 3_600_000;
  const jump = timed(() => watch.job.run(0));
  const pages = box.store
    .sql("SELECT count(*) FROM events WHERE event = 'alert.escalated'")
    .pluck()
    .get();
  box.store.close();

  const sorted = turns.toSorted((a, b) => a - b);
  const figures = {
    alerts,
    due,
    open_us_each: (opened.ms * 1000) / alerts,
    due_scan_p50_ms: percentile(scans, 0.5),
    due_scan_p99_ms: percentile(scans, 0.99),
    restart_quiet_ms: began - restart,
    restart_settled_ms: settled - restart,
    settle_cpu_ms: (used.user + used.system) / 1000,
    pages,
    turn_p50_ms: percentile(sorted, 0.5),
    turn_p99_ms: percentile(sorted, 0.99),
    turn_max_ms: sorted.at(-1) ?? 0,
    clock_jump_ms: jump.ms,
  };
  for (const [name, value] of Object.entries(figures))
    if (typeof value === "number")
      Object.assign(figures, { [name]: Math.round(value * 1000) / 1000 });
  return figures;
}

function table(columns: readonly Record<string, unknown>[]): string {
  const names = Object.keys(columns[0] ?? {});
  const cells = (name: string) =>
    columns.map((column) => String(column[name]).padStart(12)).join("");
  return names.map((name) => `${name.padEnd(22)}${cells(name)}\n`).join("");
}

const columns: Record<string, unknown>[] = [];
for (const due of values.due) {
  const directory = mkdtempSync(join(values.data, "box-bench-"));
  try {
    const figures = await measure(join(directory, "box.db"), Number(due));
    if (values.json) process.stdout.write(`${JSON.stringify(figures)}\n`);
    columns.push(figures);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
if (!values.json) process.stdout.write(table(columns));
