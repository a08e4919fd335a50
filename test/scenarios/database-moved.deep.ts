import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fill, partOfFull } from "../../bench/growth-stage.ts";
import { runCommand } from "../../src/app/prove/scratch-box.ts";
import { openReadOnly } from "../../src/ground/store/database.ts";
import { PAGE } from "../../src/ground/store/record/sums.ts";
import { imageOf } from "../../src/hosted/record/body.ts";
import { boxProcess } from "../support/box-process.ts";
import { columnsOf } from "../support/dump.ts";
import { type KeptStage, keptStage } from "../support/kept-box.ts";
import { postgresTest } from "../support/postgres.ts";

/**
 * A box with much in it begins to use a database, a new machine makes its storage from there, and a backup of that becomes a
 * box without a database again. PART: of 10 million alerts and 100 million lines.
 */

const PART = Number(process.env["PART"] ?? 0.002);
const SLICE = 1_024;
/** Nothing becomes too old meanwhile. */
const NO_END = "BOX_HISTORY_DAYS=3650";
/** What a start writes: which jobs ran, and how long nobody served. */
const OWN = /^(?:meta|jobs|downtimes|sqlite_.*)$/;

/** Of each table its name, the number of its rows, and a hash of them. */
function tablesOf(data: string): string[] {
  const db = openReadOnly(join(data, "box.db"));
  try {
    const names = db
      .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
      .pluck()
      .all() as string[];
    return names
      .filter((name) => !OWN.test(name))
      .map((name) => {
        const columns = columnsOf(db, name).map((column) => `quote("${column.name}")`);
        const sql = `SELECT ${columns.join(" || ',' || ")} FROM "${name}" ORDER BY 1`;
        const hash = createHash("sha256");
        let rows = 0;
        for (const row of db.prepare(sql).pluck().iterate()) hash.update(`${++rows} ${row}\n`);
        return `${name} ${rows} ${hash.digest("hex")}`;
      });
  } finally {
    db.close();
  }
}

/** The database's pages are the file, byte for byte; how many. */
async function sameBytes(ask: KeptStage["ask"], data: string): Promise<number> {
  const bytes = readFileSync(join(data, "box.db"));
  const count = bytes.length / PAGE;
  for (let from = 0; from <= count; from += SLICE) {
    const rows = await ask<{ page: number; body: Buffer }>(
      `SELECT page, body FROM tenant_pages WHERE page > ${from} AND page <= ${from + SLICE} ORDER BY page`,
    );
    const images = Buffer.concat(rows.map(({ body }) => imageOf(body) ?? Buffer.of()));
    assert.ok(images.equals(bytes.subarray(from * PAGE, (from + SLICE) * PAGE)), `after ${from}`);
  }
  return count;
}

postgresTest("a box with much in it moves into a database and out again", async (t) => {
  const { root, machine, plain: program, ask } = await keptStage(t);
  const [one, two] = [machine("one", [NO_END]), machine("two", [NO_END])];
  const plain = ["env", NO_END, ...program] as const;
  fill(one.data, partOfFull(PART));
  const before = boxProcess(plain, one.data);
  await before.start();
  await before.stop();
  const out = boxProcess(plain, join(root, "out"));
  for (const box of [one, two, out]) box.api.key = before.api.key;
  const filled = tablesOf(one.data);
  let since = performance.now();
  const took = (what: string) => {
    t.diagnostic(`${what}: ${((performance.now() - since) / 1000).toFixed(1)} s`);
    since = performance.now();
  };

  await one.start();
  took("started with an empty database");
  await one.stop();
  const pages = await sameBytes(ask, one.data);
  assert.deepEqual(tablesOf(one.data), filled);

  copyFileSync(join(one.data, "box.key"), join(two.data, "box.key"));
  since = performance.now();
  await two.start();
  took("a new machine started");
  const backup = join(root, "backup.db");
  await runCommand(plain, ["backup", backup, "--with-key", "--data", two.data, "--json"]);
  await two.stop();
  assert.equal(await sameBytes(ask, two.data), pages);
  assert.deepEqual(tablesOf(two.data), filled);

  await runCommand(plain, ["restore", backup, "--data", out.data, "--json"]);
  assert.deepEqual(tablesOf(out.data), filled);
  await out.start();
  const ended = await out.stop();
  assert.equal(ended.code, 0, JSON.stringify(ended));
  assert.deepEqual(tablesOf(out.data), filled);
  const rows = filled.reduce((sum, table) => sum + Number(table.split(" ")[1]), 0);
  t.diagnostic(
    `${((pages * PAGE) / 2 ** 20).toFixed(0)} MiB, ${rows} rows of ${filled.length} tables`,
  );
});
