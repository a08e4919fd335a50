import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openStore } from "../../src/ground/store/store.ts";
import { groupWrites } from "../../src/hosted/registry/sqlite/deps.ts";
import { openSqliteRegistry } from "../../src/hosted/registry/sqlite/registry.ts";
import { handClock } from "../support/clock.ts";
import { plainSealer } from "../support/hosted.ts";
import { memoryOrTemp } from "../support/memory.ts";
import type { ContractBench } from "./contract/bench.ts";
import { claimsContract } from "./contract/claims.ts";
import { peopleContract } from "./contract/people.ts";
import { tenantsContract } from "./contract/tenants.ts";

/** One process serves a file alone, so both nodes are the same. */
async function open(t: TestContext): Promise<ContractBench> {
  const dir = mkdtempSync(join(memoryOrTemp(), "box-hosted-"));
  const path = join(dir, "hosted.db");
  const options = { path, clock: handClock(), random: systemRandom };
  const registry = openSqliteRegistry({ ...options, sealer: () => plainSealer });
  const opened = [registry];
  t.after(() => {
    for (const one of opened) one.close();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    registry,
    nodes: [registry, registry],
    clock: options.clock,
    contents: async () =>
      [path, `${path}-wal`].map((file) => readFileSync(file).toString("latin1")).join(""),
    async keyless() {
      const lost = { seal: plainSealer.seal, open: () => null };
      const node = openSqliteRegistry({ ...options, sealer: () => lost });
      opened.push(node);
      return node;
    },
  };
}

const sqlite = { name: "SQLite", test, open };
peopleContract(sqlite);
tenantsContract(sqlite);
claimsContract(sqlite);

test("changes of one turn share a commit, and one that throws is undone alone", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "box-hosted-"));
  const options = { path: join(dir, "hosted.db"), clock: handClock(), random: systemRandom };
  const store = openStore({ ...options, kind: "hosted" });
  t.after(() => {
    store.close();
    rmSync(dir, { recursive: true });
  });
  let commits = 0;
  store.onCommit(() => commits++);
  const write = groupWrites(store);
  const put = (key: string, fail = false) =>
    write((tx) => {
      tx.note({ topic: "people" });
      tx.sql("INSERT INTO meta (key, value) VALUES (?, 1)").run(key);
      if (fail) throw new Error(key);
      return key;
    });
  const results = await Promise.allSettled([put("a"), put("b", true), put("a"), put("c")]);
  assert.deepEqual(
    results.map((result) => result.status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
  assert.equal(commits, 1);
  const keys = store.sql("SELECT key FROM meta ORDER BY key").pluck().all();
  assert.deepEqual(keys, ["a", "c"]);
});

test("a full disk fails every change of a commit, and the next commit with space succeeds", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "box-hosted-"));
  const options = { path: join(dir, "hosted.db"), clock: handClock(), random: systemRandom };
  const store = openStore({ ...options, kind: "hosted" });
  t.after(() => {
    store.close();
    rmSync(dir, { recursive: true });
  });
  const write = groupWrites(store);
  const put = (key: string, bytes: number) =>
    write((tx) => {
      tx.sql("INSERT INTO meta (key, value) VALUES (?, ?)").run(key, "x".repeat(bytes));
    });
  const pages = store.db.pragma("page_count", { simple: true }) as number;
  store.db.pragma(`max_page_count = ${pages + 2}`);
  const results = await Promise.allSettled([put("a", 10), put("b", 100_000), put("c", 10)]);
  const told = results.map((one) => (one.status === "rejected" ? one.reason.code : "kept"));
  assert.equal(told[1], "storage_full");
  const kept = store.sql("SELECT key FROM meta ORDER BY key").pluck().all();
  const promised = ["a", "b", "c"].filter((_, index) => told[index] === "kept");
  assert.deepEqual(kept, promised);
  store.db.pragma("max_page_count = 100000");
  await put("d", 100_000);
});
