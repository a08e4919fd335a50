import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import type { Tenant } from "../../../src/tenant/tenant.ts";
import type { Format } from "../../../src/web/intake/format.ts";
import { createLoopTurn } from "../../../src/web/intake/loop-turn.ts";
import { createTaker, type Taker } from "../../../src/web/intake/taker.ts";

/** What a port reads of messages that are dear, each in ten milliseconds, in turns of the event loop. */

const peer = { address: "127.0.0.1", certificate: null };
const DEAR_MS = 10;
const frames = (n: number, bytes = 1) =>
  Array.from({ length: n }, () => ({ bytes: Buffer.alloc(bytes), cut: false }));
const turnOfLoop = () => new Promise((done) => setImmediate(done));

/** Two takers that share the loop's turn. Nothing they get can be read, which takes its time, too. */
function takers(ofFormat: Partial<Format> = {}): {
  udp: Taker;
  tcp: Taker;
  outcomes(): unknown[];
  read(): number;
} {
  let now = 0;
  const clock = { ...systemClock, mono: () => now };
  const format: Format = {
    kind: "gelf",
    frames: () => assert.fail(),
    datagram: () => assert.fail(),
    ...ofFormat,
    read(frame, told) {
      now += DEAR_MS;
      return ofFormat.read?.(frame, told) ?? null;
    },
  };
  const deps = {
    tenant: { log: silentLog } as Tenant,
    clock,
    allowFrom: [],
    spend() {},
    senders: [],
    guess() {},
    turn: createLoopTurn(clock),
  };
  const portOf = (name: "gelf-udp" | "gelf-tcp") =>
    createTaker({ name, host: "127.0.0.1", port: 1, bound: null }, format, deps);
  const [udp, tcp] = [portOf("gelf-udp"), portOf("gelf-tcp")];
  const outcomes = () =>
    [udp, tcp].map(({ counts }) => Object.entries(counts.outcomes).filter(([, n]) => n > 0));
  return { udp, tcp, outcomes, read: () => now / DEAR_MS };
}

test("datagrams and connections that come at once are read over many turns", async () => {
  const { udp, tcp, outcomes, read } = takers();
  for (const frame of frames(32)) udp.offer(frame, peer);
  const taken = Promise.all([1, 2, 3].map(() => tcp.take(frames(20), peer)));
  for (let last = 0; last < 92; ) {
    assert.ok(read() - last <= 3, `${read() - last} in one turn`);
    last = read();
    await turnOfLoop();
  }
  await taken;
  assert.deepEqual(outcomes(), [[["unreadable", 32]], [["unreadable", 60]]]);
});

test("a port that is flooded takes no more of a turn than one that isn't", async () => {
  const order: string[] = [];
  const { udp, tcp } = takers({
    read(frame) {
      order.push(frame.bytes.length === 1 ? "tcp" : "udp");
      return null;
    },
  });
  for (const frame of frames(30, 2)) udp.offer(frame, peer);
  let isTaken = false;
  const taken = tcp.take(frames(9), peer).then(() => {
    isTaken = true;
  });
  // The flood goes on before each turn.
  while (!isTaken) {
    for (const frame of frames(3, 2)) udp.offer(frame, peer);
    await turnOfLoop();
    assert.ok(
      order.length < 40,
      `of ${order.length} messages ${order.filter((one) => one === "tcp").length} came by the other port`,
    );
  }
  await taken;
});

test("datagrams beyond 8 MiB that nobody had time to read are told as lost", async () => {
  const { udp, outcomes, read } = takers();
  for (const frame of frames(20, 1024 * 1024)) udp.offer(frame, peer);
  while (read() < 11) await turnOfLoop();
  assert.deepEqual(outcomes()[0], [
    ["unreadable", 11],
    ["overloaded", 9],
  ]);
});

test("what nobody had time to read when the box stops is told as lost", async () => {
  const { udp, outcomes } = takers();
  for (const frame of frames(10)) udp.offer(frame, peer);
  udp.stop();
  for (let turn = 0; turn < 3; turn++) await turnOfLoop();
  assert.deepEqual(outcomes()[0], [
    ["unreadable", 3],
    ["failed", 7],
  ]);
});

test("a message whose reading throws is told as lost, and the next one is read", async () => {
  let reads = 0;
  const read = () => (++reads % 2 === 1 ? assert.fail("unforeseen") : null);
  const { udp, tcp, outcomes } = takers({ read });
  for (const frame of frames(2)) udp.offer(frame, peer);
  await tcp.take(frames(2), peer);
  const once = [
    ["unreadable", 1],
    ["failed", 1],
  ];
  assert.deepEqual(outcomes(), [once, once]);
});

test("whenever the box stops, each message is counted once, and those of a port are read in their order", () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom("udp", "tcp"), fc.integer({ min: 1, max: 9 })), {
        maxLength: 12,
      }),
      fc.integer({ min: 0, max: 30 }),
      async (sent, stopsAfter) => {
        const read: Record<string, number[]> = { 1: [], 2: [] };
        const both = takers({
          read({ bytes }) {
            read[bytes.length]?.push(bytes[0] ?? -1);
            return null;
          },
        });
        const counted = { udp: 0, tcp: 0 };
        const taking: Promise<void>[] = [];
        for (const [way, n] of sent as ["udp" | "tcp", number][]) {
          const some = frames(n, way === "udp" ? 1 : 2);
          for (const { bytes } of some) bytes[0] = counted[way]++;
          if (way === "tcp") {
            // As a connection's: the next chunk is read once this one is taken.
            const last = taking.at(-1) ?? Promise.resolve();
            taking.push(last.then(() => both.tcp.take(some, peer)));
          } else for (const frame of some) both.udp.offer(frame, peer);
        }
        for (let turn = 0; turn < stopsAfter; turn++) await turnOfLoop();
        for (const { stop } of [both.udp, both.tcp]) stop();
        await Promise.all(taking);
        while (sumOf(both.udp) < counted.udp) await turnOfLoop();
        assert.deepEqual([sumOf(both.udp), sumOf(both.tcp)], [counted.udp, counted.tcp]);
        for (const all of Object.values(read))
          assert.deepEqual(
            all,
            all.map((_, i) => i),
          );
      },
    ),
    { numRuns: 60 },
  ));

const sumOf = ({ counts }: Taker) => Object.values(counts.outcomes).reduce((a, b) => a + b, 0);
