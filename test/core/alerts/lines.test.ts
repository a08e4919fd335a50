import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { readLinesAround } from "../../../src/in/ingest/lines-around.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import fc from "../../support/property.ts";

/** Kept lines about an alert's opening, beside a model that looks at each line. */

let box: TestBox;
let openedAt: number;
const TEMPLATES = ["t0", "t1", "t2"];
interface Line {
  id: number;
  project: number;
  source: number;
  at: number;
  template: string;
  message: string;
}
const lines: Line[] = [];

before(async () => {
  box = await testBox();
  const token = await box.project("shop", { retain_logs: true });
  await box.project("other", { retain_logs: true });
  await box.api("POST", "/v1/projects/shop/sources", { name: "api", retain_logs: true });
  await box.api("POST", "/v1/projects/shop/rules", { name: "any", match: { min_level: 500 } });
  await box.ingest(token, { message: "payment 1 failed at acme", level: 500 });
  const { store } = box.tenant;
  openedAt = Math.floor(box.clock.now() / 1000);
  store.write((tx) => {
    tx.sql("DELETE FROM log_lines").run();
    tx.sql("DELETE FROM log_blocks").run();
    const insert = tx.sql<(string | number)[]>(
      `INSERT INTO log_lines (id, project_id, source_id, received_at, level, template_id, message)
       VALUES (?, ?, ?, ?, 200, ?, ?)`,
    );
    const block = tx.sql<(string | number)[]>("INSERT OR IGNORE INTO log_blocks VALUES (?, ?, ?)");
    for (let i = 0; i < 4000; i++) {
      const project = i % 3 === 0 ? 2 : 1;
      const line = {
        id: 5000 + i,
        project,
        source: project === 2 ? 2 : i % 4 === 0 ? 3 : 1,
        at: openedAt - 1000 + Math.floor(i / 2),
        template: TEMPLATES[i % 5] ?? "t0",
        message: `payment ${i % 7} failed`,
      };
      lines.push(line);
      insert.run(line.id, line.project, line.source, line.at, line.template, line.message);
      for (const id of [line.template, ""]) block.run(line.project, id, Math.floor(line.id / 1024));
    }
  });
});
after(() => box.stop());

const query = fc.record(
  {
    after: fc.integer({ min: -1200, max: 1200 }).map((n) => n),
    before: fc.integer({ min: -1200, max: 1200 }),
    source: fc.constantFrom("app", "api", "gone"),
    template: fc.constantFrom(...TEMPLATES, "none"),
    q: fc.constantFrom("PAYMENT 3", "payment", "nothing"),
    limit: fc.integer({ min: 1, max: 500 }),
  },
  { requiredKeys: ["limit"] },
) as fc.Arbitrary<{
  after?: number;
  before?: number;
  source?: string;
  template?: string;
  q?: string;
  limit: number;
}>;

describe("lines about an alert", () => {
  test("are those nearest to its opening, in order, of its project and what was asked", () => {
    const sources: Record<string, number> = { app: 1, api: 3, gone: -1 };
    fc.assert(
      fc.property(query, (asked) => {
        const of = {
          ...asked,
          ...(asked.after !== undefined && { after: openedAt + asked.after }),
          ...(asked.before !== undefined && { before: openedAt + asked.before }),
        };
        const [from, until] = [of.after ?? openedAt - 300, of.before ?? openedAt + 300];
        const all = lines.filter(
          (line) =>
            line.project === 1 &&
            line.at >= from &&
            line.at <= until &&
            (of.source === undefined || line.source === sources[of.source]) &&
            (of.template === undefined || line.template === of.template) &&
            (of.q === undefined || line.message.includes(of.q.toLowerCase())),
        );
        const pivot = Math.min(Math.max(openedAt, from), until + 1);
        const older = all.filter(({ at }) => at < pivot).reverse();
        const newer = all.filter(({ at }) => at >= pivot);
        const early = older.slice(0, Math.max(Math.ceil(of.limit / 2), of.limit - newer.length));
        const shown = [...early.reverse(), ...newer.slice(0, of.limit - early.length)];
        const found = readLinesAround(box.tenant.store, 1, {
          query: of,
          rootOf: (_, id) => id,
        });
        assert.deepEqual(
          found.messages.map(({ id }) => Number(id)),
          shown.map(({ id }) => id),
        );
        assert.equal(found.complete, shown.length === all.length);
      }),
      { numRuns: 300 },
    );
  });

  test("a project without kept lines has none; what isn't there is 404", async () => {
    const { body } = await box.api("GET", "/v1/alerts/1/lines?after=0&before=10");
    assert.deepEqual(body, { messages: [], variables: [], complete: true });
    assert.equal((await box.api("GET", "/v1/alerts/9/lines")).status, 404);
    assert.equal((await box.api("GET", "/v1/alerts/1/lines?limit=501")).status, 400);
  });
});

test("what varies in the alert's own template is marked, and counted to the lines shown", async () => {
  const one = await testBox();
  try {
    const token = await one.project("shop", { retain_logs: true });
    await one.api("POST", "/v1/projects/shop/rules", { name: "any", match: { min_level: 400 } });
    for (const [n, host] of [
      [1, 1],
      [2, 1],
      [2, 9],
    ])
      await one.ingest(token, { message: `payment ${n} failed at 10.0.0.${host}`, level: 400 });
    await one.ingest(token, { message: "all is well <script>alert(1)</script>", level: 200 });
    const { messages, variables, complete } = (await one.api("GET", "/v1/alerts/1/lines")).body;
    assert.equal(complete, true);
    assert.equal(messages.length, 4);
    assert.deepEqual(messages[0].parts.slice(0, 2), [
      { text: "payment ", variable: false },
      { text: "1", variable: true },
    ]);
    assert.deepEqual(
      messages[3].parts.map(({ text }: { text: string }) => text).join(""),
      messages[3].message,
    );
    assert.deepEqual(variables[0], {
      position: 1,
      values: [
        { value: "2", count: 2 },
        { value: "1", count: 1 },
      ],
    });
    for (const { values } of variables)
      assert.equal(
        values.reduce((sum: number, { count }: { count: number }) => sum + count, 0),
        3,
      );
  } finally {
    await one.stop();
  }
});

test("the line that opened an alert is among those around it, however many came in its second", async (t) => {
  const one = await testBox();
  t.after(() => one.stop());
  const token = await one.project("shop", { retain_logs: true });
  await one.api("POST", "/v1/projects/shop/rules", { name: "any", match: { min_level: 500 } });
  const words = ["apple", "pear", "plum", "fig", "lemon"];
  const fill = async (many: number) => {
    for (let n = 0; n < many; n++)
      await one.ingest(token, { message: `${words[n % 5]} order is on its way`, level: 200 });
  };
  await fill(40);
  await one.ingest(token, { message: "payment lost for good", level: 500 });
  await fill(40);
  const { messages } = (await one.api("GET", "/v1/alerts/1/lines?limit=11")).body;
  assert.equal(messages.length, 11);
  const at = messages.findIndex(({ message }: { message: string }) => /payment/.test(message));
  assert.ok(at >= 4 && at <= 6, `in the middle, not at ${at}`);
});
