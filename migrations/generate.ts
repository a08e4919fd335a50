import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { migrations } from "../src/ground/store/migrations.ts";

/**
 * `node migrations/generate.ts` writes src/ground/store/schema.ts, which Drizzle's queries are written against, from the
 * tables that the migrations make; a test compares them.
 */

/** The tables that are asked by Drizzle: rows that people write. All others are asked by prepared SQL. */
const tables = [
  "accounts",
  "api_keys",
  "sign_in_providers",
  "sign_in",
  "oidc_links",
  "removed_people",
  "passkeys",
  "pair_codes",
  "pair_receipts",
  "devices",
  "projects",
  "sources",
  "source_keys",
  "count_series",
  "ladders",
  "rules",
  "schedules",
  "shift_checks",
  "hand_overs",
  "walls",
  "calendars",
  "holidays",
  "overrides",
  "away",
  "away_asked",
  "oncall_notes",
  "asks",
  "ask_people",
  "integrations",
  "actions",
  "relay",
  "reports",
  "report_entries",
  "gateways",
  "contacts",
  "notify_rules",
];

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
  const written = tables.map((table) => {
    const { sql } = db.prepare("SELECT sql FROM sqlite_master WHERE name = ?").get(table) as {
      sql: string;
    };
    return tableText(table, {
      columns: db.pragma(`table_info(${table})`) as Column[],
      counts: sql.includes("AUTOINCREMENT"),
    });
  });
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
  const name = table === "sign_in" ? "signInRow" : camel(table);
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

const camel = (name: string): string =>
  name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());

if (import.meta.main)
  writeFileSync(join(import.meta.dirname, "../src/ground/store/schema.ts"), schemaText());
