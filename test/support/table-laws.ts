import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { folderOf, type Law } from "./laws.ts";
import type { Source } from "./source.ts";

/** The laws of the store: which folder writes which table, and how each folder asks. */

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

/** The tables that a file writes, but for columns lent to its folder and, in `hosted`, the registry's. */
function ownWrites({ file, code }: Source): string[] {
  const folder = folderOf(file);
  if (anyTable.includes(file)) return [];
  return writesIn(code)
    .filter(({ table, columns }) => {
      if (folder === "hosted") return !hostedTables.has(table);
      const borrowed =
        lent.find((one) => one.table === table && one.folder === folder)?.columns ?? [];
      return !columns?.every((column) => borrowed.includes(column));
    })
    .map(({ table }) => table);
}

/** The folders that write each table of a tenant's store. Others call their verbs; whoever may import it reads. */
export function writersIn(tree: readonly Source[]): Map<string, Set<string>> {
  const writers = new Map<string, Set<string>>();
  for (const source of tree)
    for (const table of ownWrites(source))
      writers.set(table, (writers.get(table) ?? new Set()).add(folderOf(source.file)));
  return writers;
}

/** A table is written by one folder. The hosted registry is another store, and all its own. */
export const tablesOf =
  (writers: ReadonlyMap<string, ReadonlySet<string>>): Law =>
  (source) => {
    const folder = folderOf(source.file);
    return ownWrites(source).flatMap((table) => {
      if (table === "${") return [`${source.file}: says only when it runs which table it writes`];
      const others = [...(writers.get(table) ?? [])].filter((other) => other !== folder);
      return others.length === 0
        ? []
        : [`${source.file}: ${table} is written by ${others.join(" and ")}, not by ${folder}`];
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
