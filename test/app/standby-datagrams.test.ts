import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import type { Socket } from "node:net";
import { test } from "node:test";
import { openStandbyDatagrams } from "../../src/app/standby-datagrams.ts";
import {
  createDatagramReader,
  type Datagram,
  packedDatagram,
} from "../../src/web/intake/datagrams.ts";
import { createFormat } from "../../src/web/intake/format.ts";
import { noneYet } from "../../src/web/intake/taker.ts";
import { openUdp } from "../../src/web/intake/udp.ts";
import { handClock } from "../support/clock.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { until } from "../support/until.ts";

/** Datagrams that come to a machine that stands by. */

test("datagrams are found in a connection's bytes, in whatever pieces they come", () => {
  const random = seeded(seed);
  const upTo = (most: number) => Math.floor(random() * most);
  const all: Datagram[] = Array.from({ length: 200 }, (_, i) => ({
    address: ["127.0.0.1", "fe80::1%eth0", "::ffff:10.0.0.1"][i % 3] ?? "",
    bytes: Buffer.alloc(i % 7 === 0 ? 0 : upTo(i === 5 ? 65_507 : 900), i),
  }));
  const bytes = Buffer.concat(all.map(packedDatagram));
  const read = createDatagramReader();
  const found: Datagram[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + upTo(upTo(8) === 0 ? 5_000 : 40);
    found.push(...read(bytes.subarray(at, at + size)));
    at += size;
  }
  assert.deepEqual(found, all);
});

test("what waited for a machine that serves now is written together", async (t) => {
  const takes: number[] = [];
  let rest = () => {};
  const taker = {
    mayComeFrom: () => true,
    count() {},
    offer() {},
    take: (frames: readonly unknown[]) =>
      new Promise<void>((resolve) => {
        takes.push(frames.length);
        rest = resolve;
      }),
    stop() {},
    isStopped: () => false,
    counts: { port: "syslog-udp", outcomes: noneYet() },
  } as const;
  const clock = handClock();
  const to = { name: "syslog-udp", host: "127.0.0.1", port: 0, bound: null } as const;
  const own = await openUdp(to, { format: createFormat["syslog-udp"](undefined), taker, clock });
  t.after(own.close);
  const counts = { forwarded: 0, refused: 0, datagrams: 0, dropped: 0 };
  const held: Socket[] = [];
  const forwarder = {
    counts,
    isClosed: () => false,
    send: ({ socket }: { socket: Socket }) => void held.push(socket),
  };
  const open = await openStandbyDatagrams(to, { clock }, forwarder);
  sentMeanwhile(open.port, 200);
  await open.drain();
  await open.close();
  assert.equal(held.length, 1);
  own.take(held[0] as Socket);
  const taken = () => takes.reduce((sum, n) => sum + n, 0);
  while (counts.datagrams < 200) {
    await until(() => taken() > counts.datagrams, "more of them are taken");
    rest();
    const before = taken();
    await until(() => counts.datagrams === before, "it is told so");
  }
  assert.ok(takes.length < 5, `by few commits: ${takes}`);
});

/** The system has them unread: this process stands still meanwhile. */
function sentMeanwhile(port: number, n: number): void {
  const script = `const socket = require("node:dgram").createSocket("udp4");
    let left = ${n};
    for (let i = 0; i < ${n}; i++)
      socket.send("datagram " + i, ${port}, "127.0.0.1", () => --left === 0 && socket.close());`;
  execFileSync(process.execPath, ["-e", script]);
}

test("what the system has unread when a port is given away is kept, too", async () => {
  const found: string[] = [];
  const read = createDatagramReader();
  const ways: Socket[] = [];
  const counts = { forwarded: 0, refused: 0, datagrams: 0, dropped: 0 };
  const forwarder = {
    counts,
    isClosed: () => false,
    send({ socket }: { socket: Socket }) {
      ways.push(socket);
      socket.on("data", (chunk: Buffer) =>
        found.push(...read(chunk).map(({ bytes }) => String(bytes))),
      );
    },
  };
  const to = { name: "syslog-udp", host: "127.0.0.1", port: 0, bound: null } as const;
  const open = await openStandbyDatagrams(to, { clock: handClock() }, forwarder);
  sentMeanwhile(open.port, 200);
  await open.drain();
  await open.close();
  await until(() => found.length === 200, "all of them are sent on");
  for (const way of ways) way.destroy();
});

test("5,000 are kept until they are taken, each is sent again until then, and the rest is counted", async (t) => {
  const clock = handClock();
  const ways: Socket[] = [];
  /** What came by each of them. */
  const heard: string[][] = [];
  const counts = { forwarded: 0, refused: 0, datagrams: 0, dropped: 0 };
  let isClosed = false;
  const forwarder = {
    counts,
    isClosed: () => isClosed,
    send({ socket }: { socket: Socket }) {
      const read = createDatagramReader();
      const found: string[] = [];
      heard.push(found);
      ways.push(socket);
      socket.on("data", (chunk: Buffer) =>
        found.push(...read(chunk).map(({ bytes }) => String(bytes))),
      );
    },
  };
  const to = { name: "syslog-udp", host: "127.0.0.1", port: 0, bound: null } as const;
  const open = await openStandbyDatagrams(to, { clock }, forwarder);
  const sender = createSocket("udp4");
  t.after(async () => {
    isClosed = true;
    sender.close();
    for (const way of ways) way.destroy();
    await open.close();
  });
  const come = async (n: number) => {
    for (let i = 0; i < n; i++)
      await new Promise((sent) => sender.send(`datagram ${i}`, open.port, "127.0.0.1", sent));
  };
  await come(3);
  await until(() => heard[0]?.length === 3, "all three come by a way");
  ways[0]?.write("+");
  await until(() => counts.datagrams === 1, "one is taken");
  ways[0]?.destroy();
  await once(ways[0] as Socket, "close");
  await clock.turn(250);
  await until(() => heard[1]?.length === 2, "the rest comes by another one");
  assert.deepEqual(heard, [
    ["datagram 0", "datagram 1", "datagram 2"],
    ["datagram 1", "datagram 2"],
  ]);
  for (let i = 0; i < 52; i++) await come(100);
  await until(() => counts.dropped === 202, "there is room for 5,000");
});
