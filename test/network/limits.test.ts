import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import type { ServerLimits } from "../../src/web/http/server-limits.ts";
import { exchange, ingestHead, inPieces, VERSION } from "./raw.ts";
import { hasty, type Served, served } from "./served.ts";

async function withBox(
  limits: Partial<ServerLimits>,
  run: (box: Served) => Promise<void>,
  flags: object = {},
): Promise<void> {
  const box = await served({ ...hasty, ...limits }, flags);
  try {
    await run(box);
    assert.deepEqual(box.errors, []);
  } finally {
    await box.stop();
  }
}

/** Less than the shortest of the usual limits. */
const PATIENCE_MS = 9000;

/** An event that is under way for a while: not the ingest lane's. */
const inThree = (box: Served, body: string) =>
  exchange(box.port, inPieces(ingestHead(box.token, body.length) + body, 3), { enough: 1 });

/** A character at a time with a pause after each. */
const slowly = (text: string, ms: number) => [...text].flatMap((char) => [char, ms]);

/** A connection, and whether the server has closed it. */
async function held(port: number): Promise<{ socket: Socket; closed: Promise<void> }> {
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await new Promise<void>((resolve) => {
    socket.once("connect", () => resolve());
    socket.once("close", () => resolve());
  });
  return { socket, closed };
}

/** Long enough that only want of room ends a connection. */
const patient: Partial<ServerLimits> = {
  head: 60_000,
  request: 60_000,
  keepAlive: 60_000,
  silence: 60_000,
};

/** Connections that the server has taken one after the other. */
async function inOrder(port: number, n: number) {
  const all: Awaited<ReturnType<typeof held>>[] = [];
  for (let i = 0; i < n; i++) all.push(await held(port));
  return all;
}

/** A kept connection on which `request` was answered well; `again` sends it once more, and answers the status. */
async function talk(port: number, request: string) {
  const { socket } = await held(port);
  const again = async () => {
    const answered = once(socket, "data", { signal: AbortSignal.timeout(PATIENCE_MS) });
    socket.write(request);
    const [chunk] = (await answered) as [Buffer];
    return Number(/^HTTP\/1\.1 (\d+)/.exec(chunk.toString())?.[1]);
  };
  assert.ok((await again()) < 300);
  return { socket, again };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
}

describe("time", { concurrency: true }, () => {
  // One for all: while a box starts, this process does nothing else.
  let box: Served;
  before(async () => {
    box = await served(hasty);
  });
  after(async () => {
    assert.deepEqual(box.errors, []);
    await box.stop();
  });

  const cases: [string, (box: Served) => (string | number)[], number][] = [
    ["a connection that says nothing", () => [], 408],
    [
      "a head that doesn't end",
      () => slowly("GET /v1/version HTTP/1.1\r\nHost: ".padEnd(80, "a"), 50),
      408,
    ],
    [
      "a body that doesn't end",
      (box) => [ingestHead(box.token, 80), ...slowly("x".repeat(79), 50)],
      408,
    ],
    [
      "an API body that doesn't come",
      (box) => [ingestHead(box.token, 80).replace("ingest", "pair")],
      408,
    ],
    [
      "chunks that don't end",
      (box) => [
        ingestHead(box.token, 0).replace("Content-Length: 0", "Transfer-Encoding: chunked"),
        ...slowly("1\r\na\r\n".repeat(12), 50),
      ],
      408,
    ],
  ];
  for (const [what, parts, status] of cases) {
    test(`${what} is ended`, async () => {
      const { answers, end } = await exchange(box.port, parts(box), { patience: PATIENCE_MS });
      assert.notEqual(end, "open");
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [status],
      );
      assert.equal(JSON.parse(answers[0]?.body ?? "").error.code, "request_timeout");
    });
  }
});

describe("clients that stay or leave", () => {
  test("a kept connection without a request is closed", () =>
    withBox({ keepAlive: 300 }, async (box) => {
      const { answers, end } = await exchange(box.port, [VERSION], { patience: PATIENCE_MS });
      assert.deepEqual([answers[0]?.status, end], [200, "closed"]);
    }));

  test("a client that goes away in its body leaves nothing behind", () =>
    withBox({ bodyBytes: 100_000 }, async (box) => {
      for (let i = 0; i < 5; i++) {
        const { socket } = await held(box.port);
        socket.write(ingestHead(box.token, 90_000) + "x".repeat(60_000));
        await new Promise((resolve) => setTimeout(resolve, 50));
        socket.destroy();
      }
      const send = () => inThree(box, JSON.stringify({ message: "y".repeat(60_000) }));
      let { answers } = await send();
      // It may not have seen the last one go yet.
      while (answers[0]?.status === 429) ({ answers } = await send());
      assert.equal(answers[0]?.status, 202);
      const half = await exchange(box.port, [ingestHead(box.token, 50), "{"], { halfClose: true });
      assert.notEqual(half.end, "open");
      assert.deepEqual(
        half.answers.map(({ status }) => status),
        [400],
      );
    }));
});

describe("numbers", () => {
  test("a client that never reads its answers is closed", () =>
    withBox({ silence: 300, keepAlive: 300 }, async (box) => {
      const { socket, closed } = await held(box.port);
      socket.pause();
      socket.write("GET /v1/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".repeat(400));
      const sockets = () =>
        process.getActiveResourcesInfo().filter((what) => what === "TCPSocketWrap").length;
      await until(() => sockets() > 1);
      // The client holds on to its end without reading, and the server lets its own go.
      const both = sockets();
      await until(() => sockets() < both);
      socket.resume();
      await closed;
    }));

  test("bodies under way are bounded: past it 429, and what is held is given back", () =>
    withBox({ bodyBytes: 100_000 }, async (box) => {
      const { socket } = await held(box.port);
      socket.write(ingestHead(box.token, 90_000) + "x".repeat(70_000));
      const send = () => inThree(box, JSON.stringify({ message: "y".repeat(60_000) }));
      let { answers } = await send();
      while (answers[0]?.status === 202) ({ answers } = await send());
      assert.equal(answers[0]?.status, 429);
      assert.equal(JSON.parse(answers[0]?.body ?? "").error.code, "overloaded");
      assert.equal(answers[0]?.headers["retry-after"], "1");
      socket.destroy();
      while (answers[0]?.status === 429) ({ answers } = await send());
      assert.equal(answers[0]?.status, 202);
    }));

  test("one address holds its share of connections and no more: its oldest stranger goes", () =>
    withBox({ ...patient, connectionsPerAddress: 3 }, async (box) => {
      const four = await inOrder(box.port, 4);
      await four[0]?.closed;
      assert.deepEqual(
        four.map(({ socket }) => socket.destroyed),
        [true, false, false, false],
      );
      for (const { socket } of four) socket.destroy();
    }));

  test("a trusted proxy speaks for many and has no share", () =>
    withBox(
      { connectionsPerAddress: 1 },
      async (box) => {
        const two = [await held(box.port), await held(box.port)];
        const { answers } = await exchange(box.port, [VERSION], { enough: 1 });
        assert.equal(answers[0]?.status, 200);
        for (const { socket } of two) socket.destroy();
      },
      { trustedProxy: ["127.0.0.0/8"] },
    ));

  test("all connections together are bounded", () =>
    withBox({ ...patient, connections: 4 }, async (box) => {
      const six = await inOrder(box.port, 6);
      await Promise.all([six[0]?.closed, six[1]?.closed]);
      assert.equal(six.filter(({ socket }) => socket.destroyed).length, 2);
      for (const { socket } of six) socket.destroy();
    }));

  const event = (box: Served) => `${ingestHead(box.token, 15)}{"message":"a"}`;
  const stranger = (box: Served) => `${ingestHead(`${box.token}x`, 15)}{"message":"a"}`;
  const read = (box: Served) =>
    `GET /v1/projects HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${box.key}\r\n\r\n`;

  test("strangers who hold every place don't keep known senders out, nor end what they hold", () =>
    withBox({ ...patient, connections: 6 }, async (box) => {
      // One of each way in: the lane, Node's reader, the API.
      const ways = [event(box), event(box).replace("Host: a", "Expect: no\r\nHost: a"), read(box)];
      const known = await Promise.all(ways.map((request) => talk(box.port, request)));
      const crowd = await inOrder(box.port, 30);
      for (const { socket } of crowd) socket.write(stranger(box));
      assert.equal((await exchange(box.port, [event(box)], { enough: 1 })).answers[0]?.status, 202);
      assert.deepEqual(await Promise.all(known.map(({ again }) => again())), [202, 202, 200]);
      for (const { socket } of [...crowd, ...known]) socket.destroy();
    }));

  test("where everyone is known, a newcomer finds no room", () =>
    withBox({ ...patient, connections: 2 }, async (box) => {
      const known = [await talk(box.port, event(box)), await talk(box.port, read(box))];
      await (await held(box.port)).closed;
      assert.deepEqual(await Promise.all(known.map(({ again }) => again())), [202, 200]);
      known[0]?.socket.destroy();
      let answered = false;
      while (!answered) {
        const { answers } = await exchange(box.port, [VERSION], { enough: 1 });
        answered = answers[0]?.status === 200;
      }
      known[1]?.socket.destroy();
    }));

  test("a crowd is told in the log, once", () =>
    withBox({ ...patient, connections: 2 }, async (box) => {
      for (const { socket } of await inOrder(box.port, 20)) socket.destroy();
      const told = (box as never as { warnings: object[] }).warnings.filter(
        (entry) => "evicted" in (entry as object),
      );
      assert.deepEqual(told, [{ evicted: 1, refused: 0 }]);
    }));

  test("a parked reader that goes away gives its place back", () =>
    withBox({}, async (box) => {
      const pull = `GET /v1/pull?wait=60 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${box.key}\r\n\r\n`;
      const { socket } = await held(box.port);
      socket.write(pull);
      await until(() => box.tenant.waiters.parked === 1);
      socket.destroy();
      await until(() => box.tenant.waiters.parked === 0);
    }));
});
