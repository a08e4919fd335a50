import assert from "node:assert/strict";
import { test } from "node:test";
import { createMiner, type Miner, type MinerRow } from "../../src/ingest/template/miner.ts";

function fresh(limit = 1_000): Miner {
  return createMiner({ limit, rows: [] });
}

function textOf(message: string): string {
  return fresh().mine(message).root.text;
}

test("variables become <*> and constants survive", () => {
  assert.equal(textOf("User 42 failed login from 10.0.0.1"), "User <*> failed login from <*>");
  assert.equal(textOf("Started job-7 in 3.2 s"), "Started job-<*> in <*>");
});

test("the id is 16 lower-case hex characters, and the same for the same line in any miner", () => {
  const { id } = fresh().mine("disk sda1 is 93% full");
  assert.match(id, /^[0-9a-f]{16}$/);
  const other = fresh();
  other.mine("something else");
  assert.equal(other.mine("disk sdb2 is 7% full").id === id, false);
  assert.equal(other.mine("disk sda1 is 94% full").id, id);
});

test("a word that takes many values becomes a variable of the oldest template", () => {
  const miner = fresh();
  const names = ["alice", "bob", "carol", "dave", "erin"];
  const first = names.map((name) => miner.mine(`session opened for user ${name} by sshd`).id);
  assert.equal(new Set(first).size, names.length);
  assert.deepEqual(new Set(first.map((id) => miner.rootOf(id))), new Set([first[0]]));
  const { id, root } = miner.mine("session opened for user zoe by sshd");
  assert.equal(root.id, first[0]);
  assert.notEqual(id, root.id);
  assert.equal(root.text, "session opened for user <*> by sshd");
});

test("a miner made from the rows answers like the one that wrote them", () => {
  const miner = fresh();
  const rows = new Map<string, MinerRow>();
  for (const name of ["alice", "bob", "carol", "dave"]) miner.mine(`user ${name} logged in`);
  for (const row of miner.takeChanges().rows) rows.set(row.id, row);
  const again = createMiner({ limit: 1_000, rows: rows.values() });
  for (const name of ["alice", "bob", "carol", "dave", "zoe"]) {
    const a = miner.mine(`user ${name} logged in`);
    const b = again.mine(`user ${name} logged in`);
    assert.deepEqual([b.id, b.root.id, b.root.text], [a.id, a.root.id, a.root.text]);
  }
});
