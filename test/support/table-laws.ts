import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { folderOf, type Law } from "./laws.ts";

/** The laws of the store: which folder writes which table, and how each folder asks. */

/** The one folder that writes each table of a tenant's store. Others call its verbs; whoever may import it reads. */
export const owners: Record<string, string> = {
  meta: "store",
  migrations: "store",
  accounts: "people",
  api_keys: "people",
  devices: "people",
  sessions: "people",
  walls: "people",
  passkeys: "people",
  wrong_tries: "people",
  removed_people: "people",
  sign_in_providers: "people",
  oidc_links: "people",
  sign_in: "people",
  pair_codes: "people",
  pair_receipts: "people",
  projects: "projects",
  sources: "projects",
  source_keys: "projects",
  rules: "projects",
  ladders: "projects",
  ladder_changes: "alerts",
  ladder_followers: "alerts",
  actions: "projects",
  integrations: "projects",
  relay: "projects",
  schedules: "oncall",
  overrides: "oncall",
  holidays: "oncall",
  calendars: "oncall",
  shift_checks: "oncall",
  hand_overs: "oncall",
  away: "oncall",
  away_asked: "oncall",
  oncall_notes: "oncall",
  asks: "oncall",
  ask_people: "oncall",
  reports: "reports",
  report_entries: "reports",
  number_days: "numbers",
  number_duty: "numbers",
  number_people: "numbers",
  advice_hidden: "advice",
  events: "outbox",
  deliveries: "outbox",
  executions: "outbox",
  storms: "outbox",
  alerts: "alerts",
  timeline: "alerts",
  window_hits: "alerts",
  waiting: "alerts",
  changes: "alerts",
  alert_buckets: "alerts",
  alert_minutes: "alerts",
  alert_people: "alerts",
  alert_counts: "alerts",
  silences: "quiet",
  heartbeats: "heartbeats",
  heartbeat_runs: "heartbeats",
  gateways: "contacts",
  contacts: "contacts",
  notify_rules: "contacts",
  pages: "paging",
  audit: "audit",
  templates: "ingest",
  template_counts: "ingest",
  template_returns: "ingest",
  count_series: "projects",
  hour_counts: "ingest",
  downtimes: "ingest",
  log_lines: "ingest",
  log_blocks: "ingest",
  line_outlines: "ingest",
};

/** Columns that another folder may update: what it alone finds out, and when it does. */
const lent: readonly { table: string; folder: string; columns: readonly string[] }[] = [
  {
    // How an endpoint fares, and the chat that Telegram moved: known where it is called.
    table: "integrations",
    folder: "outbox",
    columns: [
      "consecutive_failures",
      "failing_since",
      "last_error",
      "enabled",
      "sealed",
      "worked_at",
      "off_at",
      "off_by",
    ],
  },
  // Since when it is heard.
  { table: "sources", folder: "ingest", columns: ["heard_since"] },
  // When the relay is told next where this box is.
  { table: "relay", folder: "outbox", columns: ["announce_at"] },
  // From where an import made a part: no noun of its own asks.
  ...["sources", "schedules", "ladders", "rules", "heartbeats", "integrations"].map((table) => ({
    table,
    folder: "config-file",
    columns: ["imported_from", "imported_as", ...(table === "ladders" ? ["imported_in"] : [])],
  })),
  // When a message last left for it, moved with a jump of the clock as the pages are.
  { table: "contacts", folder: "paging", columns: ["sent_ms"] },
];

/** Write whichever table: every sealed column, a copy that nobody serves, or a registry that moves. */
const anyTable = [
  "src/ground/store/sealed.ts",
  "src/records/backup/restored.ts",
  "src/records/backup/take.ts",
  "src/hosted/registry/move/here.ts",
  "src/hosted/registry/move/there.ts",
];

const WRITE =
  /\b(INSERT(?: OR [A-Z]+)? INTO|REPLACE INTO|UPDATE(?: OR [A-Z]+)?|DELETE FROM)(?:\s|\\n)+"?([a-z_]+|\$\{)(?=([^;]*))/g;
const BUILT = /\.orm\.(insert|update|delete)\((\w+)\)/g;

const root = path.join(import.meta.dirname, "../..");

/** A table that is made anew has another name until it takes the old one's place. */
function tablesIn(migrations: string): string[] {
  const sql = readdirSync(path.join(root, migrations))
    .map((file) => readFileSync(path.join(root, migrations, file), "utf8"))
    .join("\n");
  const named = (what: RegExp) => [...sql.matchAll(what)].map((found) => found[1] ?? "");
  const renamed = named(/ALTER TABLE (\w+) RENAME TO/g);
  return named(/CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g).filter((name) => !renamed.includes(name));
}

/** The tables that the migrations make. */
export const boxTables = tablesIn("migrations/box");
const hostedTables = new Set([
  ...tablesIn("migrations/hosted"),
  ...tablesIn("migrations/postgres"),
  "migrations",
]);

/** Drizzle's tables, by the name that the code has for them. */
export const drizzleTables = new Map(
  [
    ...readFileSync(path.join(root, "src/ground/store/schema.ts"), "utf8").matchAll(
      /export const (\w+) = sqliteTable\(\s*"(\w+)"/g,
    ),
  ].map((found) => [found[1] ?? "", found[2] ?? ""]),
);

interface Write {
  table: string;
  /** What an UPDATE assigns; null for a row that is made or deleted. */
  columns: string[] | null;
}

function writesIn(code: string): Write[] {
  const written = [...code.matchAll(WRITE)].map(([, verb = "", table = "", rest = ""]): Write => {
    const assigned = /SET(.*?)(?:WHERE|RETURNING|[`"]|$)/s.exec(rest)?.[1] ?? "";
    const names = [...assigned.matchAll(/(\w+)\s*=/g)].map((found) => found[1] ?? "");
    return { table, columns: verb.startsWith("UPDATE") ? names : null };
  });
  const built = [...code.matchAll(BUILT)].map(
    ([, , name = ""]): Write => ({ table: drizzleTables.get(name) ?? name, columns: null }),
  );
  return [...written, ...built];
}

/** A table is written by its own folder. The hosted registry is another store, and all its own. */
export const tables: Law = ({ file, code }) => {
  const folder = folderOf(file);
  if (anyTable.includes(file)) return [];
  return writesIn(code)
    .filter(({ table, columns }) => {
      if (folder === "hosted") return !hostedTables.has(table);
      const borrowed =
        lent.find((one) => one.table === table && one.folder === folder)?.columns ?? [];
      const isLent = columns?.every((column) => borrowed.includes(column)) ?? false;
      return owners[table] !== folder && !isLent;
    })
    .map(({ table }) => {
      if (table === "${") return `${file}: says only when it runs which table it writes`;
      return `${file}: ${table} is written by ${owners[table] ?? "nobody"}, not by ${folder}`;
    });
};

/**
 * An alert's row is updated in one place, which compares it with what was seen. Beside it stand what touches many alerts
 * alike without a look at any, and what ingest folds, whose speed is measured.
 */
const updatesAlerts = ["apply.ts", "many.ts", "fold.ts"].map((file) => `src/core/alerts/${file}`);

export const alertRows: Law = ({ file, code }) =>
  !updatesAlerts.includes(file) &&
  writesIn(code).some(({ table, columns }) => table === "alerts" && columns !== null)
    ? [`${file}: an alert's row is updated by \`change\` (src/core/alerts/apply.ts)`]
    : [];

/** Folders of configuration, people and reports: asked by Drizzle. */
const byDrizzle = ["projects", "people", "reports", "oncall", "config-file", "contacts"];
/** The hot path, timers, outbox, alerts, the hosted registry and whoever looks at those: prepared SQL. */
const bySql = [
  "store",
  "outbox",
  "alerts",
  "numbers",
  "advice",
  "ingest",
  "tenant",
  "hosted",
  "backup",
  "operate",
  "prove",
  "heartbeats",
  "paging",
  "audit",
  "listen",
  "quiet",
  "search",
];
/**
 * Configuration that is asked so often that building the query would be felt. What ingest needs of a project
 * (its rules, compiled, and its sources by token) is in memory and read again only after a change.
 */
const preparedAll: Record<string, string> = {
  "src/people/actor.ts": "who calls: every request",
  "src/people/sessions.ts": "who looks: every request of a page",
  "src/people/tries.ts": "wrong passwords: who guesses asks often",
  "src/records/config-file/imported.ts": "two columns that six tables have alike",
  "src/core/oncall/duty.ts": "who is on call: every rung of a ladder",
  "src/out/contacts/subscription-ids.ts": "whose browsers are rung: every page",
};

const drizzle: RegExp = /\.orm\b|"drizzle-orm/;
const prepared = /\.(?:sql|prepare)\(/;

/** Each folder asks in one way; http, app and the command line ask no store at all. */
export const asking: Law = ({ file, code }) => {
  const folder = folderOf(file);
  if (folder === "store") return [];
  const mayBuild = byDrizzle.includes(folder) && preparedAll[file] === undefined;
  const mayPrepare = bySql.includes(folder) || preparedAll[file] !== undefined;
  return [
    ...(drizzle.test(code) && !mayBuild
      ? [`${file}: ${folder} asks by prepared SQL, or not at all`]
      : []),
    ...(prepared.test(code) && !mayPrepare
      ? [`${file}: ${folder} asks by Drizzle, or not at all`]
      : []),
  ];
};

/** `sql<Params, Row>()`: a cast of the answer is checked by nobody. */
export const typedSql: Law = ({ file, text }) =>
  /\.sql\(/.test(text)
    ? [`${file}: a statement says what it takes and gives: sql<Params, Row>()`]
    : [];
