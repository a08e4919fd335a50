/**
 * `database-steps.ts DATA URL INTO TOLD MOST`: a box's store whose pages are in a database is started, written to, compared
 * and left, and what a kill at each of its steps would leave is kept: DATA in INTO, the database's tables in a schema of
 * their own. A step that comes again and again is kept MOST times. TOLD: names that were answered before. Prints a `Left`
 * for each.
 */
import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { basename, join } from "node:path";
import Database from "better-sqlite3";
import pg from "pg";
import { beforeEach, step } from "../ground/store/steps.ts";
import { openedBox } from "../support/opened-box.ts";
import { postgresPrograms } from "../support/postgres.ts";

/** What a kill leaves: the number of a copy of the directory, and the schema of one of the database. */
export interface Left {
  name: string;
  files: number;
  database: string;
  /** What anybody may have heard of. */
  told: string[];
}

const TABLES = ["tenant_stores", "tenant_pages", "tenant_epochs"];
const WRITES = 24;

const STATEMENTS = [
  ["AND seq IN", "a ship"],
  ["string_agg", "a compare's list"],
  ["page_sum = ", "a compare's end"],
  ["INSERT INTO tenant_pages", "a compare's pages"],
  ["clean = $", "leaving"],
  ["epoch = epoch + 1", "taking"],
] as const;

const [, , data = "", url = "", into = "", before = "[]", most = "1"] = process.argv;
const told = new Set(JSON.parse(before) as string[]);
const left: Left[] = [];
const times = new Map<string, number>();

function keepDatabase(n: number): string {
  const schema = `${basename(data)}_${n}`;
  const { hostname, pathname } = new URL(url);
  const sql = TABLES.map((table) => `CREATE TABLE ${schema}.${table} AS TABLE public.${table}`);
  const words = ["-qAtX", "-h", decodeURIComponent(hostname), "-U", "box", "-d", pathname.slice(1)];
  execFileSync(join(postgresPrograms ?? "", "psql"), [
    ...words,
    "-c",
    [`CREATE SCHEMA ${schema}`, ...sql].join(";"),
  ]);
  return schema;
}

beforeEach((n, named) => {
  const name = named.replace(/\d+/g, "0");
  // What a store's start does to its file is killed elsewhere (upgrade.test.ts).
  if (
    /^(?:prepare|exec|pragma(?! wal_checkpoint)|openSync.*(?:maps|box\.db-...)) /.test(`${name} `)
  )
    return;
  const seen = (times.get(name) ?? 0) + 1;
  times.set(name, seen);
  if (seen > Number(most)) return;
  cpSync(data, join(into, String(n)), { recursive: true });
  left.push({ name, files: n, database: keepDatabase(n), told: [...told] });
});

/** What the process was when it asked, and the database when it had done it: the answer was lost. */
function unanswered(asked: Left | undefined): void {
  const answered = left.at(-1);
  if (asked === undefined || answered === undefined) return;
  left.push({ ...asked, name: `${asked.name}, done`, database: answered.database });
}

/** What a statement is for; null for one that changes nothing. */
function nameOf(statement: string): string | null {
  const found = STATEMENTS.find(([text]) => statement.includes(text));
  if (found !== undefined) return found[1];
  return /^\s*(?:SELECT|BEGIN)/.test(statement) ? null : statement.trim().slice(0, 32);
}

const { query } = pg.Client.prototype as unknown as Record<
  "query",
  (...args: unknown[]) => Promise<unknown>
>;
Object.assign(pg.Client.prototype, {
  async query(this: pg.Client, ...args: unknown[]) {
    const [asked] = args as [string | { text: string }];
    const statement = nameOf(typeof asked === "string" ? asked : asked.text);
    if (statement === null) return query.apply(this, args);
    const kept = left.length;
    step(`asked: ${statement}`);
    const mine = left[kept];
    const answer = await query.apply(this, args);
    const isKept = left.length;
    step(`answered: ${statement}`);
    if (left.length > isKept) unanswered(mine);
    return answer;
  },
});
const statements = Object.getPrototypeOf(new Database(":memory:").prepare("SELECT 1"));
const { run } = statements;
statements.run = function (this: { source: string }, ...values: unknown[]) {
  const isCommit = this.source === "COMMIT";
  if (isCommit) step("before a commit");
  const done = run.apply(this, values);
  if (isCommit) step("after a commit");
  return done;
};

const box = await openedBox(data, url);
for (const name of box.names()) told.add(name);
step("it serves");
for (let n = 0; n < WRITES; n++) {
  const name = `${basename(into)}-${n}`;
  box.add(name);
  if (n === WRITES / 2) step("half of its life");
  // Another program's commit: pages are missing, and all of them are compared while commits go on.
  if (n === WRITES / 2) box.addBeside(`${name}-beside`);
  const kept = box.durable()?.then(() => {
    told.add(name);
    step("it is answered");
  });
  if (n % 4 === 3) await kept;
}
await box.durable();
await box.stop();
beforeEach(() => {});
process.stdout.write(JSON.stringify(left));
