import assert from "node:assert/strict";
import { test } from "node:test";
import type { Arrival } from "../../../src/in/ingest/arrival.ts";
import { createBatcher, defaultBatchLimits } from "../../../src/in/ingest/batcher.ts";

const source = {
  id: 1,
  projectId: 1,
  name: "app",
  retainLogs: false,
  kind: "events",
  room: "project",
  options: {},
  sealedSecret: null,
} as const;
const arrival: Arrival = { source, event: { message: "x", level: 200, keys: null, tags: null } };
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A batcher whose commits take `commitMs`, with a clock that advances by `step` ms at each reading. */
function batcherOf(commitMs: number, step = 0.1) {
  const sizes: number[] = [];
  let now = 0;
  const batcher = createBatcher(
    {
      process(batch) {
        sizes.push(batch.length);
        return batch.map(() => ({ alerted: false, template_id: "t" }));
      },
      commitMs: () => commitMs,
      now: () => (now += step),

      mayTell: () => null,
    },
    defaultBatchLimits,
  );
  const send = (n = 1) => {
    for (let i = 0; i < n; i++) batcher.submit([arrival], () => {});
  };
  return { sizes, send };
}

test("with quick commits, events of one turn are written in the next", async () => {
  const { sizes, send } = batcherOf(0.2);
  for (let i = 0; i < 3; i++) {
    send(20);
    await turn();
  }
  await turn();
  assert.deepEqual(sizes, [20, 20, 20]);
});

test("events that come one a turn, each on its own connection, are written together", async () => {
  const { sizes, send } = batcherOf(0.2);
  for (let i = 0; i < 12; i++) {
    send();
    await turn();
  }
  for (let i = 0; i < 4; i++) await turn();
  assert.deepEqual(sizes, [12]);
});

test("with slow commits, a batch of any size waits for a part of the commit time while more events come", async () => {
  const { sizes, send } = batcherOf(8);
  send(30);
  for (let i = 0; i < 10; i++) {
    if (i % 2 === 0) send();
    await turn();
  }
  for (let i = 0; i < 6; i++) await turn();
  assert.deepEqual(sizes, [35]);
});

test("a single event waits for a few turns at most, and a stream no longer than a part of a commit", async () => {
  const lone = batcherOf(1000);
  lone.send();
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(lone.sizes, [1]);
  const stream = batcherOf(8);
  for (let i = 0; i < 60; i++) {
    stream.send(20);
    await turn();
  }
  assert.ok(stream.sizes.length >= 2, "2 ms are over after some twenty turns");
});

test("with slow commits, long turns still accept new connections", async () => {
  const { sizes, send } = batcherOf(8, 5);
  send(200);
  await turn();
  for (let i = 0; i < 20; i++) {
    send();
    await turn();
  }
  for (let i = 0; i < 5; i++) await turn();
  assert.deepEqual(sizes, [220]);
});

test("a full batch doesn't wait", async () => {
  const { sizes, send } = batcherOf(8, 5);
  for (let i = 0; i < 4; i++) {
    send(defaultBatchLimits.batch);
    await turn();
  }
  for (let i = 0; i < 4; i++) await turn();
  assert.deepEqual(sizes, Array(4).fill(defaultBatchLimits.batch));
});

test("only senders that are refused last may exceed the limits of waiting events", () => {
  const batcher = createBatcher(
    {
      process: (batch) => batch.map(() => ({ alerted: false, template_id: "t" })),
      commitMs: () => 1,
      now: () => 0,

      mayTell: () => null,
    },
    { ...defaultBatchLimits, waitingEvents: 8 },
  );
  const submit = (isLast: boolean) => batcher.submit([arrival], () => {}, isLast);
  for (let i = 0; i < 8; i++) submit(false);
  assert.throws(() => submit(false), /More events wait/);
  submit(true);
  submit(true);
  assert.throws(() => submit(true), /More events wait/);
});
