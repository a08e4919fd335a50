import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createProject } from "../../../src/core/projects/projects.ts";
import type { Source } from "../../../src/core/projects/sources.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { finish } from "../../../src/ground/kit/slices.ts";
import { openStore, type Store, type Tx } from "../../../src/ground/store/store.ts";
import { createLineWriter, type LineWriter } from "../../../src/in/ingest/lines.ts";
import { readLogTail } from "../../../src/in/ingest/logtail.ts";
import { sweepOrphanLines } from "../../../src/in/ingest/old-lines.ts";
import {
  type LineTexts,
  lineOf,
  variablePartsOf,
  wholeOutline,
  widened,
} from "../../../src/in/ingest/outline.ts";
import { createRetention } from "../../../src/tenant/retention.ts";
import { handClock } from "../../support/clock.ts";
import { keptLines } from "../../support/kept-lines.ts";
import { seed } from "../../support/seed.ts";
import { seeded } from "../../support/seeded.ts";

const directory = mkdtempSync(join(tmpdir(), "box-outline-"));
after(() => rmSync(directory, { recursive: true }));

const random = seeded(seed);
const any = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
/** Words that are easy to take for something else. */
const WORDS = [
  "",
  " ",
  "a",
  "b",
  "\0",
  '"',
  '\\"',
  "{",
  "ä",
  "\u{1F525}",
  "a b",
  "\n",
  "x".repeat(40),
];
const text = (most: number) =>
  Array.from({ length: Math.floor(random() * most) }, () => any(WORDS)).join(any([" ", ""]));
const line = (): LineTexts => ({
  message: text(6),
  keys: any([null, () => JSON.stringify({ [text(2)]: text(3), k: text(2) })])?.() ?? null,
  tags: any([null, () => JSON.stringify([text(2), "prod"])])?.() ?? null,
});

test("a line that has an outline comes back to the character", () => {
  let had = 0;
  for (let round = 0; round < 3_000; round++) {
    const lines = Array.from({ length: 6 }, line);
    let outline = wholeOutline(lines[0] as LineTexts);
    for (const other of lines) {
      outline = widened(outline, other) ?? outline;
      for (const one of lines) {
        const values = variablePartsOf(outline, one);
        if (values === null) continue;
        had++;
        assert.deepEqual(lineOf(JSON.parse(JSON.stringify(outline)), values), one);
      }
    }
  }
  assert.ok(had > 10_000, `${had}`);
});

const source = (projectId: number) => ({ id: 1, projectId }) as Source;

function opened(name: string, clock = handClock()): Store {
  const path = join(directory, `${name}.db`);
  const store = openStore({ path, kind: "box", clock, random: systemRandom });
  store.write((tx) => ["shop", "office"].map((project) => createProject(tx, project)));
  return store;
}

/** Sends so many lines of some templates; returns what was sent. */
function send(tx: Tx, writer: LineWriter, of: { from: number; lines: number }): string[] {
  const sent: string[] = [];
  for (let i = of.from; i < of.from + of.lines; i++) {
    const kind = i % 7;
    const message = `request ${i} of service-${kind} was refused after ${i % 50} ms${kind === 6 ? " again".repeat(i % 4) : ""}`;
    const keys = kind === 0 ? null : { user: `u${i}`, "a key": '"' };
    const tags = i % 3 === 0 ? null : ["prod", `t${kind}`];
    writer.add({
      source: source(1 + (i % 2)),
      at: tx.at,
      templateId: `t${kind}`,
      event: { message, level: 200 + i, keys, tags },
    });
    sent.push(JSON.stringify([message, keys, tags, 200 + i, `t${kind}`]));
  }
  writer.flush(tx);
  return sent;
}

const kept = (store: Store) =>
  keptLines(store).map(({ message, keys, tags, level, template_id }) =>
    JSON.stringify([
      message,
      keys && JSON.parse(keys),
      tags && JSON.parse(tags),
      level,
      template_id,
    ]),
  );

test("lines are as they were sent: over blocks, batches that are undone, and starts", () => {
  const store = opened("all");
  let writer = createLineWriter();
  const sent: string[] = [];
  for (let from = 0; from < 9_000; from += 300) {
    if (from % 1_500 === 0) {
      assert.throws(() =>
        store.write((tx) => {
          send(tx, writer, { from, lines: 300 });
          throw new Error("undone");
        }),
      );
      writer.clear();
    }
    sent.push(...store.write((tx) => send(tx, writer, { from, lines: 300 })));
    if (from % 2_100 === 0) writer = createLineWriter();
  }
  assert.deepEqual(kept(store), sent);
  const bare = store.sql("SELECT avg(outline IS NULL) FROM log_lines").pluck().get() as number;
  assert.ok(bare < 0.3, `${bare} of the lines are stored whole`);
  const found = finish(
    readLogTail(store, 1, {
      limit: 9_000,
      q: "SERVICE-2 was",
      template: "t2",
      rootOf: (id) => id,
    }),
  );
  const wanted = sent.filter((line, i) => i % 2 === 0 && line.includes("service-2 was"));
  assert.deepEqual(
    found.messages.map(({ message }) => message),
    wanted.map((line) => (JSON.parse(line) as string[])[0]),
  );
  // What a deleted project's lines had in common goes with them.
  store.write((tx) => tx.sql("DELETE FROM projects WHERE name = 'shop'").run());
  store.write((tx) => {
    while (sweepOrphanLines(tx));
  });
  assert.equal(
    store.sql("SELECT count(*) FROM line_outlines WHERE project_id = 1").pluck().get(),
    0,
  );
  assert.deepEqual(
    kept(store),
    sent.filter((_, i) => i % 2 === 1),
  );
  store.close();
});

const BYTES = "SELECT sum(pgsize) FROM dbstat WHERE name IN ('log_lines', 'line_outlines')";

test("lines of one template take less than a third of what they say", () => {
  const store = opened("small");
  const writer = createLineWriter();
  const templateId = "0123456789abcdef";
  let said = 0;
  for (let from = 0; from < 5_000; from += 50) {
    store.write((tx) => {
      for (let i = from; i < from + 50; i++) {
        const message = `User ${i} failed login from 10.0.0.${i % 250} after ${i % 90} ms: the session store answered with status 503 and the request was given up`;
        const event = {
          message,
          level: 300,
          keys: { user: `u${i}`, region: "eu" },
          tags: ["auth"],
        };
        writer.add({ source: source(1), at: tx.at, templateId, event });
        said += JSON.stringify(event).length;
      }
      writer.flush(tx);
    });
  }
  const taken = store.sql(BYTES).pluck().get() as number;
  assert.ok(taken < said / 3, `${taken} bytes for ${said}`);
  store.close();
});

test("lines that come when all are deleted are found, and read as they were sent", async () => {
  const clock = handClock();
  const store = opened("gone", clock);
  const writer = createLineWriter();
  store.write((tx) => send(tx, writer, { from: 0, lines: 1_500 }));
  await clock.turn(8 * 86_400_000);
  const limits = { logDays: 7, logBytes: 2 ** 31, historyDays: 90, numbersDays: 800 };
  const retention = createRetention(store, limits);
  for (let slice = 0; slice < 100 && retention.slice(); ) slice++;
  assert.equal(keptLines(store).length, 0);
  const left = store.sql("SELECT min(id) / 1024 FROM line_outlines").pluck().get();
  assert.equal(left, 1, "outlines of the block that is over are gone");
  const sent = store.write((tx) => send(tx, writer, { from: 1_500, lines: 100 }));
  assert.deepEqual(kept(store), sent);
  const { messages } = finish(readLogTail(store, 1, { limit: 500, rootOf: (id) => id }));
  assert.equal(messages.length, 50);
  store.close();
});
