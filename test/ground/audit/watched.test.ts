import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { changesOf } from "../../../src/ground/audit/changes.ts";
import { type WatchedTable, watched } from "../../../src/ground/audit/watched.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { handClock } from "../../support/clock.ts";
import { columnsOf } from "../../support/dump.ts";
import fc from "../../support/property.ts";
import { scratch } from "../../support/scratch.ts";
import { boxTables } from "../../support/table-laws.ts";
import { leftOutColumns, leftOutTables } from "./left-out.ts";

test("the audit looks at every table, and every column of it, or leaves it out on purpose", (t) => {
  const path = join(scratch(t), "box.db");
  const store = openStore({ path, kind: "box", clock: handClock(), random: systemRandom });
  t.after(() => store.close());
  const tables = boxTables.filter((name) => columnsOf(store.db, name).length > 0);
  const known = [...Object.keys(watched), ...Object.keys(leftOutTables)];
  assert.deepEqual([...new Set([...tables, "migrations"])].sort(), known.sort());
  for (const [table, { fields, id, name, inProject }] of Object.entries(watched)) {
    const columns = columnsOf(store.db, table).map((column) => column.name);
    const called = [id, name, ...(inProject ? ["project_id"] : [])];
    const told = new Set([...Object.keys(fields), ...(leftOutColumns[table] ?? []), ...called]);
    assert.deepEqual(columns.sort(), [...told].sort(), table);
  }
  assert.deepEqual(
    Object.keys(leftOutColumns).filter((table) => !Object.hasOwn(watched, table)),
    [],
  );
});

const thing: WatchedTable = {
  kind: "thing",
  id: "id",
  name: "name",
  fields: {
    name: ["name", "text"],
    on: ["enabled", "flag"],
    body: ["body", "json"],
    list: ["list", "json"],
    hash: ["token", "secret"],
  },
};
const columns = fc.record({
  name: fc.string(),
  on: fc.constantFrom(0, 1),
  body: fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue()).map((v) => JSON.stringify(v)),
  list: fc.array(fc.integer()).map((v) => JSON.stringify(v)),
  hash: fc.integer({ min: 0 }).map((n) => `secret-of-${n}-zz`),
});

test("fields that differ are told, those that don't are not, and of a secret nothing", () => {
  fc.assert(
    fc.property(columns, columns, (was, is) => {
      const image = (of: typeof was) => ({ id: 1, name: "n", project: null, columns: of });
      const changes = changesOf(thing, { before: image(was), after: image(is) });
      const fields = new Set(changes.map(({ field }) => field));
      assert.equal(fields.has("name"), was.name !== is.name);
      assert.equal(fields.has("enabled"), was.on !== is.on);
      assert.equal(fields.has("list"), was.list !== is.list);
      assert.equal(fields.has("token"), was.hash !== is.hash);
      const text = JSON.stringify(changes);
      assert.ok(!text.includes(was.hash) && !text.includes(is.hash));
      const back = { ...JSON.parse(is.body) } as Record<string, unknown>;
      for (const { field, from } of changes)
        if (["a", "b", "c"].includes(field)) back[field] = from;
      const same = (of: Record<string, unknown>) =>
        JSON.stringify(["a", "b", "c"].map((key) => of[key] ?? null));
      if (text.length < 2000) assert.equal(same(back), same(JSON.parse(was.body)));
      assert.deepEqual(changesOf(thing, { before: image(was), after: image(was) }), []);
    }),
  );
});
