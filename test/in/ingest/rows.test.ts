import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../../../src/core/projects/sources.ts";
import type { IngestEvent } from "../../../src/in/ingest/event.ts";
import { type TestBox, testBox } from "../../support/box.ts";
import { testPlane } from "../../support/plane.ts";

const EVENTS = 200;
const CHANNELS = 100;

/** Each opens an alert of its own, with a hundred channels. */
const events = Array.from({ length: EVENTS }, (_, i) => ({
  message: "failed",
  level: 400,
  keys: { id: String(i) },
  tags: null,
})) satisfies IngestEvent[];

/** The rows of the largest transaction that `send` caused, and the result. */
async function flood(send: (box: TestBox, source: Source) => Promise<unknown>) {
  const box = await testBox();
  try {
    const token = await box.project("p");
    await box.api("POST", "/v1/projects/p/rules", { name: "each", identifier_keys: ["id"] });
    for (let i = 0; i < CHANNELS; i += 1)
      await box.api("POST", "/v1/projects/p/webhooks", { url: `http://127.0.0.1:9/${i}` });
    const { store } = box.tenant;
    const rows = (): number => store.sql("SELECT total_changes()").pluck().get() as number;
    let largest = 0;
    const { write } = store;
    const counting: typeof write = (change, how) => {
      const before = rows();
      const result = write(change, how);
      if (how?.expendable) largest = Math.max(largest, rows() - before);
      return result;
    };
    Object.assign(store, { write: counting });
    await send(box, box.tenant.ingest.authenticate(token) as Source);
    const count = (table: string) => store.sql(`SELECT count(*) FROM ${table}`).pluck().get();
    const seen = store.sql("SELECT identifiers FROM alerts ORDER BY id").pluck().all() as string[];
    const order = seen.map((text) => JSON.parse(text).id);
    return { largest, order, deliveries: count("deliveries") };
  } finally {
    await box.stop();
  }
}

const submit = ({ tenant }: TestBox, source: Source, together: readonly IngestEvent[]) =>
  new Promise<void>((resolve, reject) => {
    tenant.ingest.submit(source, together, (error, answers) => {
      if (error !== null) return reject(error);
      assert.deepEqual(
        answers?.map(({ alerted }) => alerted),
        together.map(() => true),
      );
      resolve();
    });
  });

test("a flood that opens alerts for many channels goes into many transactions, in order", async () => {
  const { largest, order, deliveries } = await flood((box, source) =>
    Promise.all(events.map((event) => submit(box, source, [event]))),
  );
  assert.deepEqual(order, [...events.keys()].map(String));
  assert.equal(deliveries, EVENTS * CHANNELS);
  assert.ok(largest <= 2_200, `${largest} rows in one transaction`);
});

test("rows are counted only where an alert opens or ends", async (t) => {
  const plane = testPlane();
  t.after(() => plane.close());
  plane.rule();
  const { store } = plane.tenant;
  let asked: string[] = [];
  const { write } = store;
  const listening: typeof write = (change, how) =>
    write((tx) => {
      const sql = ((text: string) => {
        asked.push(text);
        return tx.sql(text);
      }) as typeof tx.sql;
      return change({ ...tx, sql });
    }, how);
  Object.assign(store, { write: listening });
  const countsRows = () => asked.some((text) => text.includes("total_changes"));
  await plane.fire("disk is failing");
  assert.ok(countsRows(), "it opened an alert");
  asked = [];
  await plane.fire("disk is failing");
  assert.ok(asked.length > 0 && plane.last().count === 2, "it was folded into it");
  assert.equal(countsRows(), false, asked.join("\n"));
});

test("events of one request are committed together in any case", async () => {
  const { largest, deliveries } = await flood((box, source) => submit(box, source, events));
  assert.equal(deliveries, EVENTS * CHANNELS);
  assert.ok(largest > EVENTS * CHANNELS, `${largest} rows in one transaction`);
});
