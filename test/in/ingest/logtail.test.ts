import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { createProject } from "../../../src/core/projects/projects.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import { openStore, type Store } from "../../../src/ground/store/store.ts";
import { readLogTail } from "../../../src/in/ingest/logtail.ts";
import { handClock } from "../../support/clock.ts";
import { seed } from "../../support/seed.ts";
import { seeded } from "../../support/seeded.ts";

/** One line of a small project in every block, beside what others fill the blocks with. */
const BLOCKS = 2_100;
const LINES = 1024;

const directory = mkdtempSync(join(tmpdir(), "box-logtail-"));
let store: Store;
before(() => {
  const path = join(directory, "box.db");
  store = openStore({ path, kind: "box", clock: handClock(), random: systemRandom });
  store.write((tx) => {
    createProject(tx, "shop");
    tx.db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${BLOCKS - 1})
      INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message)
        SELECT 1 + i * ${LINES}, 1, 1, i, 200 + 100 * (i % 4), 't' || (i % 7), 'message ' || i FROM n;
      INSERT INTO log_blocks SELECT project_id, template_id, id / ${LINES} FROM log_lines;
      INSERT INTO log_blocks SELECT project_id, '', id / ${LINES} FROM log_lines;
      INSERT INTO templates (project_id, id, shape, text, alias_of, state)
        SELECT 1, 't' || i, '', '', iif(i < 3, 't0', NULL), '' FROM (SELECT value AS i FROM json_each('[0,1,2,3,4,5,6]'))`);
  });
});
after(() => {
  store.close();
  rmSync(directory, { recursive: true });
});

const rootOf = (id: string) => (id === "t1" || id === "t2" ? "t0" : id);
/** How old the i-th line is doesn't matter: what is asked of the newest is looked at in all of them. */
const asked = (of: { template?: string; level?: number; q?: string }) =>
  Array.from({ length: BLOCKS }, (_, i) => i)
    .reverse()
    .filter(
      (i) =>
        (of.template === undefined || rootOf(`t${i % 7}`) === rootOf(of.template)) &&
        200 + 100 * (i % 4) >= (of.level ?? 0) &&
        `message ${i}`.includes(of.q ?? ""),
    );

test("it finds the newest that are as asked, however many blocks are between them", () => {
  const random = seeded(seed);
  const any = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  for (let round = 0; round < 40; round++) {
    const of = {
      ...(random() < 0.6 && { template: any(["t0", "t1", "t2", "t3", "t6"]) }),
      ...(random() < 0.5 && { level: any([0, 300, 500]) }),
      ...(random() < 0.5 && { q: any(["message 2", "7", "99"]) }),
    };
    const limit = any([1, 20, 90]);
    const { messages, complete } = finish(readLogTail(store, 1, { ...of, limit, rootOf }));
    const wanted = asked(of).slice(0, limit).reverse();
    assert.deepEqual(
      messages.map(({ message }) => message),
      wanted.map((i) => `message ${i}`),
      JSON.stringify({ ...of, limit }),
    );
    assert.equal(complete, true);
  }
});

test("among lines of others it ends after 2,000 blocks and says so, and others work meanwhile", () => {
  const work = readLogTail(store, 1, { q: "message 50 ", limit: 10, rootOf });
  let steps = 0;
  let cost = 0;
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) {
      assert.deepEqual(step.value, { messages: [], complete: false, left_out: 0 });
      break;
    }
    steps++;
    cost += step.value;
  }
  assert.deepEqual([steps, cost], [2_000, 2_000_000]);
});

test("lines after the one that was seen are counted", () => {
  const since = 1 + (BLOCKS - 101) * LINES;
  const { messages, left_out } = finish(readLogTail(store, 1, { limit: 30, since, rootOf }));
  assert.deepEqual([messages.length, left_out], [30, 70]);
});
