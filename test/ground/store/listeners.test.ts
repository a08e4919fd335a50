import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createProject, getProject } from "../../../src/core/projects/projects.ts";
import { createSource, findSource, type Source } from "../../../src/core/projects/sources.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { openStore } from "../../../src/ground/store/store.ts";
import { createIngest } from "../../../src/in/ingest/handle.ts";
import { handClock } from "../../support/clock.ts";

function opened(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), "box-listeners-"));
  const fatal: unknown[] = [];
  const store = openStore({
    path: join(directory, "box.db"),
    kind: "box",
    clock: handClock(),
    random: systemRandom,
    onFatal: (error) => void fatal.push(error),
  });
  t.after(() => {
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  const source = store.write((tx) => {
    createProject(tx, "p");
    const made = { tenantId: "0".repeat(16), name: "s", retainLogs: true };
    return findSource(tx, createSource(tx, getProject(tx, "p"), made).token) as Source;
  });
  return { store, source, fatal };
}

test("a listener that throws undoes nothing and is heard of: the others are told, the caller has its result", (t) => {
  const { store, fatal } = opened(t);
  const told: string[] = [];
  const fault = new Error("a listener's own fault");
  store.onCommit(() => {
    throw fault;
  });
  store.onCommit((notes) => void told.push(...notes.map(({ topic }) => topic)));
  const result = store.write((tx) => {
    tx.note({ topic: "people" });
    return "done";
  });
  assert.equal(result, "done");
  assert.deepEqual(told, ["people"]);
  assert.deepEqual(fatal, [fault]);
});

test("events that are committed are not written again because a listener threw", async (t) => {
  const { store, source, fatal } = opened(t);
  const ingest = createIngest(store);
  store.write((tx) =>
    tx
      .sql(
        "INSERT INTO rules (project_id, name, body, created_at, updated_at) VALUES (1, 'any', ?, 0, 0)",
      )
      .run(
        JSON.stringify({
          match: { min_level: null, sources: [], tags: [], template_contains: "" },
          conditions: [],
          fire_after: { count: 1, distinct_sources: 1, window_minutes: 1 },
          dedup_window_minutes: 0,
          auto_resolve_quiet_minutes: 0,
          renotify_minutes: 0,
          max_renotify: 0,
          identifier_keys: [],
          investigate: false,
          actions: null,
          escalations: [],
        }),
      ),
  );
  let commits = 0;
  store.onCommit(() => {
    commits++;
    throw new Error("a listener's own fault");
  });
  const settled: unknown[] = [];
  for (const message of ["disk is full", "disk is full"])
    ingest.submit(source, [{ message, level: 400, keys: null, tags: null }], (error) =>
      settled.push(error),
    );
  ingest.drain();
  assert.deepEqual(settled, [null, null]);
  assert.equal(store.sql("SELECT count(*) FROM log_lines").pluck().get(), 2);
  assert.equal(store.sql("SELECT count FROM alerts").pluck().get(), 2);
  assert.equal(commits, 1);
  assert.equal(fatal.length, 1);
});
