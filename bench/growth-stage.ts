import { join } from "node:path";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { setMeta } from "../src/ground/store/meta.ts";
import { openStore, type Tx } from "../src/ground/store/store.ts";
import { noFigures } from "../src/records/numbers/figures.ts";
import { cellsOf, keepCells, type Sums } from "../src/records/numbers/rows.ts";
import { defaultRule } from "../test/support/plane.ts";

/** What a box holds. */
export interface Size {
  /** In history, over the last 90 days; the newest 500 are open. */
  alerts: number;
  projects: number;
  rules: number;
  /** Over the last seven days. */
  lines: number;
}

/** What a box holds after years in a large firm. */
const FULL: Size = { alerts: 10_000_000, projects: 1_000, rules: 10_000, lines: 100_000_000 };

export const partOfFull = (part: number): Size => ({
  alerts: Math.round(FULL.alerts * part),
  projects: Math.round(FULL.projects * part),
  rules: Math.round(FULL.rules * part),
  lines: Math.round(FULL.lines * part),
});

export const OPEN = 500;
const PEOPLE = 30;
const DAY = 86_400;
const HISTORY = 90;
/** Days of numbers: two years and some. */
const NUMBER_DAYS = 800;
/** Rows in one transaction. */
const AT_ONCE = 250_000;

/** Fills a new data directory with everything that grows, straight into the tables: sending it would take days. */
export function fill(data: string, size: Size): void {
  const path = join(data, "box.db");
  const store = openStore({ path, kind: "box", clock: systemClock, random: systemRandom });
  // What is lost with the power is filled again.
  store.db.pragma("synchronous = OFF");
  store.write((tx) => furnish(tx, size));
  spans(size.alerts, (from, to) => store.write((tx) => history(tx, { size, from, to })));
  spans(size.lines, (from, to) => store.write((tx) => lines(tx, { size, from, to })));
  store.write((tx) => numbers(tx, size));
  store.db.pragma("wal_checkpoint(TRUNCATE)");
  store.close();
}

function spans(n: number, each: (from: number, to: number) => void): void {
  for (let from = 1; from <= n; from += AT_ONCE) each(from, Math.min(n, from + AT_ONCE - 1));
}

const count = (from: number, to: number) =>
  `WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})`;

/** The first project has the usual ten rules, whatever the size: rules and projects grow side by side. */
function furnish(tx: Tx, { projects, rules }: Size): void {
  const rule = JSON.stringify({
    ...defaultRule,
    identifier_keys: ["n"],
    match: { ...defaultRule.match, min_level: 300, template_contains: "no event has this" },
  });
  const wide = JSON.stringify({ ...defaultRule, identifier_keys: ["n"] });
  const perProject = rules / projects;
  tx.db.exec(`${count(1, PEOPLE)} INSERT INTO accounts (id, email, email_folded, display_name, password_hash, role, created_at)
      SELECT printf('%016x', i), 'p' || i || '@example.org', 'p' || i || '@example.org', 'Person ' || i, '', 'member', 0 FROM n;
    ${count(1, projects)} INSERT INTO projects (name, version, created_at) SELECT printf('project %04d', i), 1, ${tx.at - 700 * DAY} FROM n;
    INSERT INTO sources (project_id, name, token_hash, retain_logs, created_at, heard_since)
      SELECT id, 'app', 'none ' || id, 1, created_at, created_at FROM projects;`);
  tx.sql<[string, string]>(
    `${count(0, rules - 1)} INSERT INTO rules (project_id, name, body, created_at, updated_at)
      SELECT 1 + i / ${perProject}, printf('rule %05d', i), iif(i % ${perProject} = 0, ?, ?), 0, 0 FROM n`,
  ).run(wide, rule);
  tx.db.exec(`INSERT INTO integrations (id, project_id, name, type, url, enabled, event_filter, created_at)
      SELECT printf('%016x', id), id, 'hook', 'webhook', 'http://127.0.0.1:9/', 0, '["alert.opened"]', 0 FROM projects;
    INSERT INTO schedules (id, project_id, name, timezone, layers, created_at, updated_at, shift_check)
      SELECT printf('%016x', id), id, 'primary', 'UTC', '[]', 0, 0, 0 FROM projects;
    INSERT INTO heartbeats (id, project_id, name, slug, secret_hash, uuid_hash, period_seconds, timezone, grace_seconds, level, state, created_at)
      SELECT printf('%016x', id), id, 'backup', 'backup', 's' || id, 'u' || id, 3600, 'UTC', 60, 400, 'paused', 0 FROM projects;
    INSERT INTO reports (id, project_id, title, description, public_uuid, created_at, updated_at, created_by)
      SELECT printf('%016x', id), id, 'What happened', '', 'u' || id, 0, 0, printf('%016x', 1) FROM projects;`);
}

/** Alerts, what was done with each, whom it told; and as many entries of audit as one of a hundred has. */
function history(tx: Tx, { size, from, to }: { size: Size; from: number; to: number }): void {
  const begun = tx.at - HISTORY * DAY;
  const at = `${begun} + CAST(i * ${(HISTORY * DAY) / size.alerts} AS INTEGER)`;
  const isOpen = `i > ${size.alerts - OPEN}`;
  const perProject = size.rules / size.projects;
  tx.db.exec(`${count(from, to)} INSERT INTO alerts (id, project_id, rule_id, rule, alert_key, state, template_id, template, level, count,
      first_seen, last_seen, last_message, identifiers, investigate, page_accounts, updated_seq, opened_at, acked_at, acked_by, resolved_at, ladder_from, labels)
    SELECT i, 1 + (i % ${size.rules}) / ${perProject}, 1 + i % ${size.rules}, printf('rule %05d', i % ${size.rules}), 'seed:' || i,
      iif(${isOpen}, 'open', 'resolved'), 't' || (i % 500), 'payment <*> failed after <*> ms', 200 + 100 * (i % 4), 3, ${at}, ${at} + 600,
      'payment ' || i || ' failed after 30 ms' || iif(i % 50000 = 7, ' needle', ''), '{"n":"' || i || '"}', 0, '[]', i, ${at},
      iif(${isOpen}, NULL, ${at} + 300), iif(${isOpen}, NULL, printf('%016x', 1 + i % ${PEOPLE})), iif(${isOpen}, NULL, ${at} + 900), ${at},
      '{"host":"web-' || (i % 50) || '"}' FROM n;
    INSERT INTO alert_people (alert_id, account_id, state) SELECT id, acked_by, state FROM alerts
      WHERE id BETWEEN ${from} AND ${to} AND acked_by IS NOT NULL;
    INSERT INTO timeline (alert_id, at, kind, account_id, detail)
      SELECT a.id, a.opened_at + (s.value ->> 0), s.value ->> 1, iif(s.value ->> 1 = 'acknowledged', a.acked_by, NULL), s.value ->> 2
      FROM alerts a, json_each('[[0,"opened","{\\"count\\":3,\\"level\\":400}"],[300,"acknowledged","{}"],[900,"resolved","{\\"count\\":3}"]]') s
      WHERE a.id BETWEEN ${from} AND ${to} AND (a.state = 'resolved' OR s.value ->> 0 = 0);
    INSERT INTO events (id, event_id, project_id, alert_id, event, timestamp, body)
      SELECT id, 'e' || id, project_id, id, 'alert.opened', opened_at, '{}' FROM alerts WHERE id BETWEEN ${from} AND ${to};
    INSERT INTO deliveries (integration_id, event_row, alert_id, event, status, attempts, created_at, finished_at)
      SELECT printf('%016x', project_id), id, id, 'alert.opened', 'delivered', 1, opened_at, opened_at FROM alerts WHERE id BETWEEN ${from} AND ${to};
    INSERT INTO pages (contact_id, account_id, alert_id, event_row, event, handle, status, outcome, attempts, due_ms, created_at, finished_at)
      SELECT 'c', printf('%016x', 1 + id % ${PEOPLE}), id, id, 'alert.opened', 'h' || id, 'delivered', NULL, 1, opened_at * 1000, opened_at, opened_at
      FROM alerts WHERE id BETWEEN ${from} AND ${to};
    INSERT INTO audit (at, account_id, via, hint, address, verb, kind, target_id, target_name, project, changes)
      SELECT opened_at, acked_by, 'session', '', '', 'acknowledge', 'alert', id, 'alert', printf('project %04d', project_id), '{}'
      FROM alerts WHERE id BETWEEN ${from} AND ${to} AND id % 20 = 0;`);
}

/** Lines with their blocks, as ingest leaves them. */
function lines(tx: Tx, { size, from, to }: { size: Size; from: number; to: number }): void {
  const begun = tx.at - 7 * DAY + 3600;
  const at = `${begun} + CAST(i * ${(7 * DAY - 3600) / size.lines} AS INTEGER)`;
  tx.db.exec(`${count(from, to)} INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message)
      SELECT i, 1 + i % ${size.projects}, 1 + i % ${size.projects}, ${at}, 200, iif(i % 102400 = 1, 'rare', 't' || (i % 40)),
        'a message of the usual length that says what happened to user ' || i FROM n;
    INSERT OR IGNORE INTO log_blocks SELECT DISTINCT project_id, template_id, id / 1024 FROM log_lines WHERE id BETWEEN ${from} AND ${to};
    INSERT OR IGNORE INTO log_blocks SELECT DISTINCT project_id, '', id / 1024 FROM log_lines WHERE id BETWEEN ${from} AND ${to};`);
}

/** What is counted: each rule opens an alert once in thirty days, for two years and some. */
function numbers(tx: Tx, { projects, rules }: Size): void {
  const today = Math.floor(tx.at / DAY);
  for (let day = today - NUMBER_DAYS; day < today; ) {
    const sums: Sums = new Map();
    const until = Math.min(today, day + 30);
    for (; day < until; day++)
      for (let rule = 1 + (day % 30); rule <= rules; rule += 30) {
        const figures = noFigures();
        figures.counts.opened = 1;
        figures.counts.rings = 1;
        figures.counts.acknowledged = 1;
        const place = { ruleId: rule, projectId: Math.ceil(rule / (rules / projects)), level: 400 };
        cellsOf(sums, place, { day, account: person(1 + (rule % PEOPLE)), figures }, 1);
      }
    keepCells(tx, sums);
  }
  setMeta(
    tx,
    "numbers_read",
    tx.sql<[], number>("SELECT max(id) FROM timeline").pluck().get() ?? 0,
  );
  setMeta(tx, "numbers_duty", today);
}

const person = (n: number) => n.toString(16).padStart(16, "0");
