import assert from "node:assert/strict";
import { test } from "node:test";
import Database from "better-sqlite3";
import { preparer } from "../../../src/ground/store/statements.ts";

const NAMES = ["a", "b", "c", "d", "e", "f", "g"];
const JOINED = `SELECT a.id FROM ${NAMES.map((name) => `t ${name}`).join(" JOIN ")}
  WHERE ${NAMES.slice(1)
    .map((name) => `${name}.of = a.id`)
    .join(" AND ")}`;

/** The least time that a statement took, in milliseconds. */
function least(run: () => unknown): number {
  const times = Array.from({ length: 200 }, () => {
    const from = performance.now();
    run();
    return performance.now() - from;
  });
  return Math.min(...times);
}

test("a statement is planned once, whatever is bound beside = and LIMIT", (t) => {
  const db = new Database(":memory:");
  t.after(() => db.close());
  db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, of INTEGER); CREATE INDEX t_of ON t (of)");
  const prepare = preparer(db, new Map());
  for (const [end, value] of [
    ["AND a.of = ?", [1]],
    ["AND a.of = @of", [{ of: 1 }]],
    ["AND a.id = a.of LIMIT ?", [1]],
  ] as const) {
    const raw = db.prepare(`${JOINED} ${end}`);
    const kept = prepare(`${JOINED} ${end}`);
    const [anew, once] = [least(() => raw.all(...value)), least(() => kept.all(...value))];
    assert.ok(once < anew / 5, `${end}: ${once} ms, planned anew ${anew}`);
  }
});

test("a plus before a value changes nothing that is found", (t) => {
  const db = new Database(":memory:");
  t.after(() => db.close());
  db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, name TEXT) STRICT");
  const prepare = preparer(db, new Map());
  prepare("INSERT INTO t (n, name) VALUES (?, ?), (NULL, '?')").run(7, "07");
  const found = (where: string, value: unknown) =>
    prepare(`SELECT id FROM t WHERE ${where}`).pluck().all(value);
  assert.deepEqual(found("n = ?", 7), [1]);
  assert.deepEqual(found("n = ?", "7"), [1]);
  assert.deepEqual(found("name = ?", "07"), [1]);
  assert.deepEqual(found("name = ?", 7), []);
  assert.deepEqual(found("name = ?", "?"), [2]);
  assert.deepEqual(found("n >= ?", 7), [1]);
  assert.deepEqual(found("n=?", null), []);
  prepare("UPDATE t SET name = ? WHERE id = ?").run("x", 2);
  assert.deepEqual(found("name = @name", { name: "x" }), [2]);
});
