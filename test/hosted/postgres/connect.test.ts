import assert from "node:assert/strict";
import { migrateDatabase } from "../../../src/hosted/registry/postgres/migrate.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";

postgresTest("a bigint arrives as a number, and one that is none is refused", async (t) => {
  const database = (await testDatabase(t)).open();
  const big = (text: string) => database.query<{ n: number }>(`SELECT ${text}::bigint AS n`);
  assert.deepEqual(await big("9007199254740991"), [{ n: 9007199254740991 }]);
  await assert.rejects(big("9007199254740992"), RangeError);
  assert.deepEqual(await big("1"), [{ n: 1 }]);
});

postgresTest("several nodes that start at once migrate once", async (t) => {
  const made = await testDatabase(t, { empty: true });
  const nodes = [1, 2, 3, 4].map(() => made.open());
  await Promise.all(nodes.map((node) => migrateDatabase(node)));
  const rows = await made.open().query("SELECT number, name FROM migrations");
  assert.deepEqual(rows, [{ number: 1, name: "0001_start" }]);
});
