import { cpSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { migrations } from "../../src/ground/store/migrations.ts";
import { programFile } from "./program.ts";

const TRIED = 1_000_000;
const root = join(import.meta.dirname, "../..");

const counted = (rows: number | string) =>
  `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ${rows}) SELECT count(*) AS n FROM n`;

/** A migration that takes about so long here and now, of a store that `fill` made large. */
export function slowly(seconds: number): string {
  const db = new Database(":memory:");
  const from = performance.now();
  db.prepare(counted(TRIED)).get();
  const rows = Math.ceil((TRIED * seconds * 1000) / (performance.now() - from));
  db.close();
  const most = `(SELECT iif(count(*) > 0, ${rows}, 1) FROM ballast)`;
  return `CREATE TABLE counted AS ${counted(most)};`;
}

/** The words that start this tree's program with more migrations. */
export async function newer(
  directory: string,
  ...more: readonly string[]
): Promise<Program & [node: string, file: string]> {
  for (const name of ["migrations", "package.json", "src"])
    cpSync(join(root, name), join(directory, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
  for (const [i, sql] of more.entries()) {
    const number = String(migrations("box").length + 1 + i).padStart(4, "0");
    writeFileSync(join(directory, `migrations/box/${number}_later.sql`), sql);
  }
  // It finds what it carries from where its sources lie.
  const text = readFileSync(await programFile(), "utf8");
  const file = join(directory, "box.cjs");
  writeFileSync(file, text.replaceAll(join(root, "src"), join(directory, "src")));
  return [process.execPath, file];
}

/** Makes a store that nobody has open larger, of text that is half as large when it is compressed. */
export function fill(path: string, mib: number): void {
  const db = new Database(path);
  db.pragma("synchronous = off");
  db.exec("CREATE TABLE ballast (body TEXT)");
  const add = db.prepare("INSERT INTO ballast VALUES (hex(randomblob(1900)))");
  db.transaction(() => {
    for (let n = 0; n < mib * 256; n++) add.run();
  })();
  db.close();
}
