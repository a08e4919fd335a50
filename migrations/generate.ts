import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { migrations } from "../src/ground/store/migrations.ts";

/**
 * `node_modules/.bin/node migrations/generate.ts` writes src/ground/store/schema.ts, which Drizzle's queries are written against, from the
 * tables that the migrations make; a test compares them.
 */

const root = join(import.meta.dirname, "..");

/** What the code imports from schema.ts: the tables that are asked by Drizzle. Prepared SQL asks all others. */
function importedTables(): Set<string> {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const imports = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => [
      ...readFileSync(join(root, "src", file), "utf8").matchAll(
        /^import (?:type )?\{([^}]*)\} from "[^"]*\/schema\.ts";$/gm,
      ),
    ]);
  return new Set(imports.flatMap(([, names = ""]) => names.match(/\w+/g) ?? []));
}

/** Columns of these tables that only prepared SQL asks for. */
const unasked = ["imported_from", "imported_as", "imported_in"];

/** What columns hold that SQLite has no type for: `boolean`, `json TYPE`, or a type of src/ground/store/columns.ts. */
const meanings: Record<string, string> = {
  "accounts.role": "Role",
  "sign_in.password": "boolean",
  "pair_codes.role": "Role",
  "devices.critical_alerts": "boolean",
  "sources.retain_logs": "boolean",
  "sources.room": "NameScope",
  "sources.options": "json StoredSourceOptions",
  "schedules.shared": "boolean",
  "schedules.shift_check": "boolean",
  "schedules.hand_over": "boolean",
  "schedules.covers": "ScheduleCovers",
  "away.spans": "json AwaySpan[]",
  "away.ical_spans": "json AwaySpan[]",
  "holidays.dates": "json Holiday[]",
  "oncall_notes.lines": "json string[]",
  "asks.state": "AskState",
  "walls.messages": "boolean",
  "integrations.enabled": "boolean",
  "integrations.relay": "boolean",
  "integrations.speaks": "boolean",
  "integrations.shared": "boolean",
  "integrations.except_projects": "json number[]",
  "actions.method": "ActionMethod",
  "actions.enabled": "boolean",
  "report_entries.entry_type": "EntryType",
  "contacts.state": "ContactState",
};

interface Column {
  name: string;
  type: "TEXT" | "INTEGER";
  notnull: 0 | 1;
  dflt_value: string | null;
  pk: number;
}

export function schemaText(): string {
  const db = new Database(":memory:");
  for (const { sql } of migrations("box")) db.exec(sql);
  const imported = importedTables();
  const tables = db
    .prepare<[], { name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name",
    )
    .all();
  const written = tables
    .filter(({ name }) => imported.has(nameOf(name)))
    .map(({ name, sql }) =>
      tableText(name, {
        columns: db.pragma(`table_info(${name})`) as Column[],
        counts: sql.includes("AUTOINCREMENT"),
      }),
    );
  db.close();
  const types = [
    ...new Set(Object.values(meanings).flatMap((each) => /\b[A-Z]\w+/.exec(each) ?? [])),
  ];
  return `// Generated from the migrations by migrations/generate.ts.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type {
  ${types.sort().join(",\n  ")},
} from "./columns.ts";

${written.join("\n")}`;
}

function tableText(table: string, { columns, counts }: { columns: Column[]; counts: boolean }) {
  const key = columns.filter(({ pk }) => pk > 0).map(({ name }) => camel(name));
  const asked = columns.filter(({ name }) => !unasked.includes(name));
  const lines = asked.map((column) => {
    const only = column.pk > 0 && key.length === 1;
    const last = only
      ? `.primaryKey(${counts ? "{ autoIncrement: true }" : ""})`
      : given(table, column);
    return `${camel(column.name)}: ${kind(table, column)}${last},`;
  });
  const name = nameOf(table);
  if (key.length < 2)
    return `export const ${name} = sqliteTable("${table}", {\n  ${lines.join("\n  ")}\n});\n`;
  const both = key.map((column) => `table.${column}`).join(", ");
  return `export const ${name} = sqliteTable(
  "${table}",
  {
    ${lines.join("\n    ")}
  },
  (table) => [primaryKey({ columns: [${both}] })],
);
`;
}

function kind(table: string, { name, type }: Column): string {
  const call = type === "INTEGER" ? "integer" : "text";
  const meaning = meanings[`${table}.${name}`];
  if (meaning === undefined) return `${call}("${name}")`;
  if (meaning === "boolean") return `${call}("${name}", { mode: "boolean" })`;
  return meaning.startsWith("json ")
    ? `${call}("${name}", { mode: "json" }).$type<${meaning.slice("json ".length)}>()`
    : `${call}("${name}").$type<${meaning}>()`;
}

/** `.notNull().default(…)`. */
function given(table: string, { name, notnull, dflt_value, pk }: Column): string {
  const needed = notnull === 1 || pk > 0 ? ".notNull()" : "";
  if (dflt_value === null) return needed;
  const meaning = meanings[`${table}.${name}`] ?? "";
  const value = dflt_value.replace(/^'(.*)'$/s, "$1");
  if (meaning === "boolean") return `${needed}.default(${value === "1"})`;
  return `${needed}.default(${meaning.startsWith("json ") ? value : dflt_value.replaceAll("'", '"')})`;
}

/** `signIn` is a verb. */
const nameOf = (table: string): string => (table === "sign_in" ? "signInRow" : camel(table));

const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

if (import.meta.main) writeFileSync(join(root, "src/ground/store/schema.ts"), schemaText());
