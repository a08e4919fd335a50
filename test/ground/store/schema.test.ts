import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import * as schema from "../../../src/ground/store/schema.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { handClock } from "../../support/clock.ts";
import { columnsOf } from "../../support/dump.ts";
import { scratch } from "../../support/scratch.ts";

const tables = Object.values(schema).filter((value) => is(value, SQLiteTable));

test("the tables that code is written against are those that the migrations make", (t) => {
  const path = join(scratch(t), "box.db");
  const store = openStore({ path, kind: "box", clock: handClock(), random: systemRandom });
  t.after(() => store.close());
  assert.ok(tables.length > 10);
  for (const table of tables) {
    const config = getTableConfig(table);
    const written = columnsOf(store.db, config.name);
    assert.ok(written.length > 0, `${config.name}: no such table`);
    const keys = written.filter(({ pk }) => pk > 0);
    const declaredKeys = [
      ...config.columns.filter(({ primary }) => primary).map(({ name }) => name),
      ...config.primaryKeys.flatMap(({ columns }) => columns.map(({ name }) => name)),
    ];
    assert.deepEqual(
      declaredKeys,
      keys.map(({ name }) => name),
      `${config.name}: primary key`,
    );
    assert.deepEqual(
      config.columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
        notNull: column.notNull,
      })),
      written.map((column) => ({
        name: column.name,
        type: column.type,
        notNull: column.notnull === 1 || column.pk > 0,
      })),
      config.name,
    );
  }
});
