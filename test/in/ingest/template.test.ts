import assert from "node:assert/strict";
import { test } from "node:test";
import { Miner, type MinerRow } from "../../../src/in/ingest/template/miner.ts";
import { createTrial } from "../../../src/in/ingest/template/try.ts";
import fc from "../../support/property.ts";

function templatesOf(lines: Iterable<string>) {
  const trial = createTrial();
  for (const line of lines) trial.add(line);
  return trial.templates();
}

function fresh(limit = 1_000): Miner {
  return new Miner({ limit, rows: [] });
}

/** Keeps rows as the database would: upserted by id, deleted when reported as evicted. */
class Rows {
  readonly byId = new Map<string, MinerRow>();

  take(miner: Miner): { younger: string; older: string }[] {
    const { rows, merged, evicted } = miner.takeChanges();
    for (const id of evicted) this.byId.delete(id);
    for (const row of rows) this.byId.set(row.id, row);
    return merged;
  }

  again(limit = 1_000): Miner {
    return new Miner({ limit, rows: [...this.byId.values()].reverse() });
  }
}

const NAMES = ["alice", "bob", "carol", "dave", "erin", "frank", "grace"];

/** Lines of few words, so that shapes differ in one word often and templates merge, also in two places. */
const lines = fc.array(
  fc
    .tuple(
      fc.constantFrom(...NAMES),
      fc.constantFrom(...NAMES),
      fc.constantFrom("session opened for", "mail sent to", "backup of"),
      fc.nat(99),
    )
    .map(([a, b, what, n]) => `${what} ${a} at ${b} took ${n} ms`),
  { minLength: 1, maxLength: 80 },
);

test("the id is 16 lower-case hex characters, and the same for the same line in any miner", () => {
  const { id } = fresh().mine("disk sda1 is 93% full");
  assert.match(id, /^[0-9a-f]{16}$/);
  const other = fresh();
  assert.notEqual(other.mine("memory is 93% full").id, id);
  assert.equal(other.mine("disk sda1 is 94% full").id, id);
});

test("the same line gets the same id on a second pass, whatever merged in between", () => {
  fc.assert(
    fc.property(lines, (some) => {
      const miner = fresh();
      const first = some.map((line) => miner.mine(line).id);
      assert.deepEqual(
        some.map((line) => miner.mine(line).id),
        first,
      );
    }),
    { numRuns: 50 },
  );
});

test("a word that takes many values becomes a variable of the oldest template", () => {
  const miner = fresh();
  const ids = NAMES.map((name) => miner.mine(`session opened for ${name} by sshd`).id);
  assert.equal(new Set(ids).size, NAMES.length);
  assert.deepEqual(new Set(ids.map((id) => miner.rootOf(id))), new Set([ids[0]]));
  const { id, root } = miner.mine("session opened for zoe by sshd");
  assert.equal(root.id, ids[0]);
  assert.notEqual(id, root.id);
  assert.equal(root.text, "session opened for <*> by sshd");
});

test("generalising changes the text and raises the version, never the root's identity or id", () => {
  const miner = fresh();
  const { root } = miner.mine("mail sent to alice");
  const before = { id: root.id, text: root.text, version: root.version };
  for (const name of NAMES) miner.mine(`mail sent to ${name}`);
  assert.equal(miner.mine("mail sent to alice").root, root);
  assert.equal(root.id, before.id);
  assert.equal(root.text, "mail sent to <*>");
  assert.ok(root.version > before.version);
});

test("words that tell events apart never merge", () => {
  const miner = fresh();
  const states = ["started", "paused", "resumed", "stopped", "deleted", "created", "suspended"];
  for (const state of states) miner.mine(`the virtual machine was ${state} by its owner`);
  for (const flag of ["true", "false"]) miner.mine(`flag overlap: ${flag} on layer one`);
  for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"]) {
    miner.mine(`the proxy forwarded ${method} to its backend`);
  }
  const roots = miner.takeChanges().rows.filter((row) => row.aliasOf === null);
  assert.equal(roots.length, states.length + 2 + 6);
});

test("aliases are acyclic, point at roots, the older wins, and rows and rootOf agree", () => {
  fc.assert(
    fc.property(lines, fc.nat(9), (some, every) => {
      const miner = fresh();
      const rows = new Rows();
      const seen: string[] = [];
      const merged: { younger: string; older: string }[] = [];
      some.forEach((line, i) => {
        const { id } = miner.mine(line);
        if (!seen.includes(id)) seen.push(id);
        if (i % (every + 1) === 0) merged.push(...rows.take(miner));
      });
      merged.push(...rows.take(miner));
      for (const { younger, older } of merged) {
        assert.ok(seen.indexOf(older) < seen.indexOf(younger), `${older} is older than ${younger}`);
      }
      for (const id of seen) {
        const row = rows.byId.get(id);
        assert.ok(row !== undefined);
        assert.equal(row.aliasOf ?? id, miner.rootOf(id));
        if (row.aliasOf !== null) assert.equal(rows.byId.get(row.aliasOf)?.aliasOf, null);
      }
    }),
    { numRuns: 100 },
  );
});

test("the order of lines doesn't change what ends up together", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 5 }),
      fc.nat(),
      (names, seed) => {
        const some = names.flatMap((a) =>
          names.map((b) => `mail from customer ${a} to key ${b} queued`),
        );
        const other = [...some].sort(
          (a, b) =>
            ((a.length * 31 + a.charCodeAt(seed % 20)) % 7) -
            ((b.length * 31 + b.charCodeAt(seed % 20)) % 7),
        );
        const groups = (lines: string[]): Set<string> => {
          const miner = fresh();
          const ids = new Map(lines.map((line) => [line, miner.mine(line).id]));
          const byRoot = new Map<string, string[]>();
          for (const line of [...some].sort()) {
            const root = miner.rootOf(ids.get(line) ?? "");
            byRoot.set(root, [...(byRoot.get(root) ?? []), line]);
          }
          return new Set([...byRoot.values()].map((group) => group.join("\n")));
        };
        assert.deepEqual(groups(other), groups(some));
      },
    ),
    { numRuns: 30 },
  );
});

test("a miner made from the rows gives the same results as the one that wrote them, also for new lines", () => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const miner = fresh();
      const rows = new Rows();
      for (const line of before) miner.mine(line);
      rows.take(miner);
      const again = rows.again();
      for (const line of [...before, ...after]) {
        const a = miner.mine(line);
        const b = again.mine(line);
        assert.deepEqual([b.id, b.root.id, b.root.text], [a.id, a.root.id, a.root.text]);
      }
    }),
    { numRuns: 100 },
  );
});

test("only roots that were seen are reported as merged; after an eviction any alias may have been one", () => {
  const miner = fresh(10);
  for (const name of NAMES) miner.mine(`mail sent to ${name}`);
  assert.equal(miner.takeChanges().merged.length, 2);
  miner.mine("mail sent to zoe");
  assert.deepEqual(miner.takeChanges().merged, []);
  for (const word of ["oak", "elm", "ash"]) miner.mine(word);
  const { id, root } = miner.mine("mail sent to yves");
  assert.deepEqual(miner.takeChanges().merged, [{ younger: id, older: root.id }]);
});

test("changes are reported once, and a restored miner reports none", () => {
  const miner = fresh();
  const rows = new Rows();
  miner.mine("one line");
  rows.take(miner);
  assert.deepEqual(miner.takeChanges(), { rows: [], merged: [], evicted: [] });
  assert.deepEqual(rows.again().takeChanges(), { rows: [], merged: [], evicted: [] });
});

test("above the limit the least recently used shapes are evicted, and get the same id when seen again", () => {
  const miner = fresh(3);
  const rows = new Rows();
  const words = ["oak", "elm", "ash", "fir", "yew"];
  const ids = words.map((word) => miner.mine(word).id);
  rows.take(miner);
  assert.equal(miner.size, 3);
  assert.equal(miner.overflowed, 2);
  assert.deepEqual([...rows.byId.keys()].sort(), ids.slice(2).sort());
  assert.equal(miner.mine("oak").id, ids[0]);
  rows.take(miner);
  assert.equal(rows.byId.size, 3);
  assert.ok(rows.byId.has(ids[0] as string));
});

test("a root outlives its aliases, so used shapes keep their template", () => {
  const miner = fresh(12);
  const rows = new Rows();
  const [first] = NAMES.map((name) => miner.mine(`mail sent to ${name}`).id);
  for (let i = 0; i < 60; i++) {
    miner.mine(`${"abcdefghij"[i % 10]}${"klmnopqrst"[Math.floor(i / 10)]} happened`);
    assert.equal(miner.mine("mail sent to grace").root.id, first);
    rows.take(miner);
    for (const row of rows.byId.values()) {
      if (row.aliasOf !== null) assert.ok(rows.byId.has(row.aliasOf), "an alias without its root");
    }
  }
});

test("a template of older masking rules stays, and today's shape is its alias", () => {
  const miner = fresh();
  const rows = new Rows();
  miner.mine("disk 7 of node-3 is full");
  rows.take(miner);
  const [row] = rows.byId.values();
  assert.ok(row !== undefined);
  const old = {
    ...row,
    id: "00000000000000aa",
    shape: "disk of another age",
    state: '{"r":0,"n":1}',
  };
  const again = new Miner({ limit: 10, rows: [old] });
  const { id, root } = again.mine("disk 8 of node-4 is full");
  assert.equal(id, row.id);
  assert.equal(root.id, old.id);
  const changed = again.takeChanges().rows;
  assert.deepEqual(
    changed.map(({ id, aliasOf }) => [id, aliasOf]),
    [
      [old.id, null],
      [row.id, old.id],
    ],
  );
  const third = new Miner({ limit: 10, rows: changed });
  assert.equal(third.mine("disk 9 of node-5 is full").root.id, old.id);
  assert.deepEqual(third.takeChanges().rows, []);
});

test("damaged rows don't stop a miner", () => {
  const row = { id: "00000000000000ab", shape: "a b", text: "a b", aliasOf: "gone", state: "{" };
  const miner = new Miner({ limit: 10, rows: [row] });
  assert.equal(miner.rootOf(row.id), row.id);
  assert.equal(miner.rootOf("unknown"), "unknown");
});

test("templatesOf counts the lines of each template, most frequent first", () => {
  const some = [
    ...NAMES.map((name) => `user ${name} logged in`),
    "shutting down",
    "user 7 logged in",
  ];
  assert.deepEqual(
    templatesOf(some).map(({ template, count, example }) => [template, count, example]),
    [
      ["user <*> logged in", 8, "user alice logged in"],
      ["shutting down", 1, "shutting down"],
    ],
  );
  assert.deepEqual(templatesOf([]), []);
});
