import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { connect as connectTls, setDefaultCACertificates } from "node:tls";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { clientAddress } from "../../src/web/http/address.ts";
import type { Admitted } from "../../src/web/http/ingest.ts";
import { createIngestLane } from "../../src/web/http/ingest-lane.ts";
import { type ServerLimits, serverLimits } from "../../src/web/http/server-limits.ts";
import { keptLines } from "../support/kept-lines.ts";
import { until } from "../support/until.ts";
import {
  exchange,
  ingestHead,
  inPieces,
  type Part,
  type RawAnswer,
  readAnswers,
  VERSION,
} from "./raw.ts";
import { type Served, served } from "./served.ts";

const BODY = '{"message":"x","level":100}';
/** An event as the lane takes it, and the same in three pieces, which is Node's to read. */
const whole = ({ token }: Served, body = BODY, more = "") =>
  ingestHead(token, Buffer.byteLength(body), more) + body;
const inThree = (box: Served, body = BODY): Part[] => inPieces(whole(box, body), 3);

const statuses = (answers: readonly RawAnswer[]) => answers.map(({ status }) => status);

/** The rows of the box's log lines that this message made. */
const stored = (box: Served, message: string): number =>
  keptLines(box.tenant.store).filter((line) => line.message.includes(message)).length;

describe("the ingest lane", () => {
  let box: Served;
  before(async () => {
    box = await served(serverLimits);
  });
  after(async () => {
    assert.deepEqual(box.errors, []);
    await box.stop();
  });

  test("its answers are those of Node's server but for the id and the time", async () => {
    const bare = ({ status, headers, body }: RawAnswer) => {
      const { "x-request-id": id, date, ...others } = headers;
      assert.match(id ?? "", /^[0-9a-f]{16}$/);
      assert.ok(Math.abs(Date.parse(date ?? "") - Date.now()) < 60_000);
      return { status, headers: others, body: body.replace(id ?? "", "ID") };
    };
    const bodies = [BODY, '{"message":', '{"message":"x","level":-1}', '{"message":"ä","é":1}'];
    for (const body of bodies) {
      const [one, two, three] = await Promise.all(
        [1, 2, 3].map((n) => exchange(box.port, inPieces(whole(box, body), n), { enough: 1 })),
      );
      assert.equal(one?.answers.length, 1);
      assert.deepEqual(one?.answers.map(bare), three?.answers.map(bare));
      assert.deepEqual(two?.answers.map(bare), three?.answers.map(bare));
    }
    const stranger = { ...box, token: "pti_0000000000000000_0" };
    const one = await exchange(box.port, [whole(stranger)], { enough: 1 });
    const other = await exchange(box.port, inThree(stranger), { enough: 1 });
    assert.deepEqual(one.answers.map(bare), other.answers.map(bare));
    assert.deepEqual(statuses(one.answers), [401]);
  });

  test("a client that closes its half behind an event has its answer", async () => {
    const { answers, end } = await exchange(box.port, [whole(box)], { halfClose: true });
    assert.deepEqual([statuses(answers), end], [[202], "closed"]);
    assert.equal(answers[0]?.headers["connection"], "close");
  });

  test("a connection that is to be closed is", async () => {
    const { answers, end } = await exchange(box.port, [whole(box, BODY, "Connection: close\r\n")]);
    assert.deepEqual([statuses(answers), end], [[202], "closed"]);
    assert.equal(answers[0]?.headers["connection"], "close");
  });

  test("one connection takes events, then anything, then events again", async () => {
    const event = whole(box);
    const parts = [event, 30, event, 30, VERSION, 30, event, 30, ...inThree(box), 30, event];
    const { answers, rest } = await exchange(box.port, parts, { enough: 6 });
    assert.deepEqual(statuses(answers), [202, 202, 200, 202, 202, 202]);
    assert.equal(rest, "");
  });

  test("what comes behind an event before its answer is answered after it, in turn", async () => {
    const cases: [Part[], number[]][] = [
      [[whole(box).repeat(3)], [202, 202, 202]],
      [[whole(box) + VERSION], [202, 200]],
      [
        [whole(box), whole(box), VERSION, whole(box)],
        [202, 202, 200, 202],
      ],
      [[whole(box, '{"level":1}') + whole(box)], [400, 202]],
      [
        [whole(box) + whole(box).slice(0, 60), 30, whole(box).slice(60)],
        [202, 202],
      ],
    ];
    for (const [parts, expected] of cases) {
      const { answers, rest } = await exchange(box.port, parts, { enough: expected.length });
      assert.deepEqual(statuses(answers), expected);
      assert.equal(rest, "");
    }
  });

  test("an event that came while another was committed isn't lost, whatever the pieces", async () => {
    const texts = Array.from({ length: 40 }, (_, i) => whole(box, `{"message":"piece ${i}."}`));
    const all = texts.join("");
    for (const size of [all.length, 333, 97]) {
      const parts: Part[] = [];
      for (let at = 0; at < all.length; at += size) parts.push(all.slice(at, at + size), 1);
      const { answers } = await exchange(box.port, parts, { enough: 40 });
      assert.deepEqual(new Set(statuses(answers)), new Set([202]));
      assert.equal(answers.length, 40);
    }
    assert.equal(stored(box, "piece 39."), 3);
  });

  test("lines that come whole are taken together", async () => {
    const body = `${BODY}\n{"message":"lane lines"}\nrubbish\n`;
    const { answers } = await exchange(
      box.port,
      [whole(box, body, "Content-Type: application/x-ndjson\r\n")],
      { enough: 1 },
    );
    const { accepted, rejected } = JSON.parse(answers[0]?.body ?? "");
    assert.deepEqual([accepted, rejected, stored(box, "lane lines")], [2, 1, 1]);
  });

  test("a client that goes away before its answer leaves nothing open", async () => {
    const sockets = () =>
      process.getActiveResourcesInfo().filter((what) => what === "TCPSocketWrap").length;
    const others = sockets();
    for (let i = 0; i < 20; i++) {
      const socket = connect({ port: box.port, host: "127.0.0.1" });
      socket.on("error", () => {});
      await new Promise((resolve) => socket.write(whole(box), resolve));
      if (i % 2 === 0) socket.destroy();
      else socket.resetAndDestroy();
    }
    await until(() => sockets() <= others, "the server's ends are closed too");
  });
});

/** A lane of its own, whose door answers when it is told to. What is left open is closed when the test ends. */
async function lone(t: TestContext, answer: string, limits: Partial<ServerLimits> = {}) {
  const taken: string[] = [];
  const dones: (() => void)[] = [];
  const given: Socket[] = [];
  const unread: Buffer[] = [];
  const reply = { status: 202, headers: {}, body: answer };
  const lane = createIngestLane({
    ingest: {
      admit: () => ({}) as Admitted,
      take(_admitted, body, done) {
        taken.push(body);
        dones.push(() => done(reply));
      },
      refuse: () => reply,
    },
    connections: { know() {} },
    address: clientAddress([]),
    clock: systemClock,
    limits: { ...serverLimits, ...limits },
    handOver(socket) {
      given.push(socket);
      socket.on("data", (chunk: Buffer) => unread.push(chunk));
    },
  });
  const server = createServer({ allowHalfOpen: true }, lane.accept).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, host: "127.0.0.1" });
  t.after(async () => {
    lane.closeAll();
    client.destroy();
    for (const socket of given) socket.destroy();
    server.close();
    await once(server, "close");
  });

  return {
    server,
    client,
    taken,
    given,
    port,
    /** Answers what was taken and isn't answered yet. */
    answer: () => dones.splice(0).forEach((done) => void done()),
    unread: () => Buffer.concat(unread).toString(),
    closeIdle: lane.closeIdle,
  };
}

const event = (body: string) => ingestHead("t", body.length) + body;

test("what comes before the answer waits for it, and is then the lane's or Node's as ever", async (t) => {
  const { client, taken, given, answer, unread } = await lone(t, "{}");
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  const answers = () => readAnswers(Buffer.concat(chunks)).answers.length;
  client.write(event("early 1"));
  await until(() => taken.length === 1, "the first is taken");
  for (const text of [event("early 2"), event("early 3"), VERSION]) {
    client.write(text);
    await pause(30);
    assert.deepEqual([taken.length, answers(), given.length], [1, 0, 0]);
  }
  for (const n of [2, 3]) {
    answer();
    await until(() => taken.length === n && answers() === n - 1, "the next is taken");
    await pause(10);
    assert.deepEqual([taken.length, answers(), given.length], [n, n - 1, 0]);
  }
  answer();
  await until(() => unread() === VERSION, "what is no event is Node's");
  await until(() => answers() === 3, "all are answered");
  assert.deepEqual(taken, ["early 1", "early 2", "early 3"]);
});

test("head and body apart are the lane's, three pieces are Node's, and so is what waits for its second", async (t) => {
  for (const cut of [1, 26, 60, -BODY.length, -1]) {
    const { client, taken, given, answer, unread } = await lone(t, "{}");
    const text = event(BODY);
    const chunks: Buffer[] = [];
    client.on("data", (chunk: Buffer) => chunks.push(chunk));
    for (let n = 1; n <= 3; n++) {
      client.write(text.slice(0, cut));
      // Half a head says nothing of what is to come.
      if (cut > 0) await until(() => given.length === 1, "it is Node's");
      else await pause(20);
      assert.deepEqual([taken.length, given.length], [n - 1, cut > 0 ? 1 : 0]);
      if (cut > 0) break;
      client.write(text.slice(cut));
      await until(() => taken.length === n, "it is taken whole");
      answer();
      await until(() => readAnswers(Buffer.concat(chunks)).answers.length === n, "and answered");
    }
    if (cut < 0) {
      client.write(text.slice(0, -9));
      await pause(20);
      client.write(text.slice(-9, -3));
      await until(() => unread() === text.slice(0, -3), "a third piece is Node's to wait for");
      assert.deepEqual(taken, [BODY, BODY, BODY]);
    }
  }
  const slow = await lone(t, "{}");
  slow.client.write(event(BODY).slice(0, -3));
  await until(() => slow.unread() === event(BODY).slice(0, -3), "after a second it is Node's");
});

test("what comes behind a request that closes the connection isn't taken, however long its answer takes", async (t) => {
  const { client, taken, given, answer } = await lone(t, "x".repeat(16 * 1024 * 1024));
  client.pause();
  client.write(event(BODY).replace("Host", "Connection: close\r\nHost"));
  await until(() => taken.length === 1, "the first is taken");
  answer();
  client.write(event("behind"));
  await pause(50);
  client.resume();
  await once(client, "close");
  assert.deepEqual([taken, given], [[BODY], []]);
});

test("what came while the process stood still isn't late", async (t) => {
  const { server, client, taken } = await lone(t, "{}", { head: 1000 });
  await Promise.all([once(server, "connection"), once(client, "connect")]);
  client.write(event(BODY));
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1200);
  await until(() => taken.length === 1, "it is taken");
});

test("an answer may take longer than a head", async (t) => {
  const { client, taken, answer } = await lone(t, "{}", { head: 50 });
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  client.write(event(BODY));
  await until(() => taken.length === 1, "it is taken");
  await pause(200);
  answer();
  await until(() => readAnswers(Buffer.concat(chunks)).answers.length === 1, "it is answered");
});

test("a stop lets an answer that is on its way get there, and looks at nothing more", async (t) => {
  const { client, taken, answer, closeIdle } = await lone(t, "x".repeat(16 * 1024 * 1024));
  client.pause();
  client.write(event(BODY));
  await until(() => taken.length === 1, "it is taken");
  closeIdle();
  answer();
  closeIdle();
  client.write(event("late"));
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  client.resume();
  await once(client, "close");
  assert.equal(readAnswers(Buffer.concat(chunks)).answers.length, 1);
  assert.deepEqual(taken, [BODY]);
});

test("half requests of all connections together are bounded, and what ends is given back", async (t) => {
  const { client, given, port } = await lone(t, "{}", { begunBytes: 200 });
  const text = event("x".repeat(60));
  for (let i = 0; i < 5; i++) {
    const other = connect({ port, host: "127.0.0.1" });
    other.on("error", () => {});
    other.write(text.slice(0, -5));
    await pause(20);
    assert.equal(given.length, 0);
    other.destroy();
    await pause(20);
  }
  const second = connect({ port, host: "127.0.0.1" });
  second.write(text.slice(0, -5));
  await pause(20);
  assert.equal(given.length, 0);
  client.write(text.slice(0, -5));
  await until(() => given.length === 1, "one more is Node's, which refuses it");
  second.destroy();
});

test("half a request that ends is refused", async (t) => {
  const { client, taken } = await lone(t, "{}");
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  client.end(event(BODY).slice(0, -3));
  await once(client, "close");
  assert.match(Buffer.concat(chunks).toString(), /^HTTP\/1\.1 .*connection: close/s);
  assert.deepEqual(taken, []);
});

test("a client that doesn't read its answers is left to Node's server, nothing of what it sent lost", async (t) => {
  // More than both ends' buffers hold.
  const { client, taken, given, answer, unread } = await lone(t, "x".repeat(16 * 1024 * 1024));
  client.pause();
  client.write(event("first"));
  await until(() => taken.length === 1, "the first is taken");
  answer();
  client.write(event("second"));
  await until(() => unread() === event("second"), "the second is Node's");
  assert.deepEqual([taken, given.length], [["first"], 1]);
});

test("a planned stop closes the connections that wait for nothing", async () => {
  const box = await served(serverLimits);
  const idle = Array.from({ length: 50 }, () =>
    exchange(box.port, [whole(box)], { patience: 20_000 }),
  );
  await until(() => stored(box, "x") === 50, "all are answered");
  const from = performance.now();
  await box.stop();
  assert.ok(performance.now() - from < 4500, "none was waited for");
  for (const { answers, end } of await Promise.all(idle))
    assert.deepEqual([statuses(answers), end], [[202], "closed"]);
  assert.deepEqual(box.errors, []);
});

test("over TLS events go the same way", async () => {
  const folder = join(import.meta.dirname, "../fixtures/tls");
  setDefaultCACertificates([readFileSync(join(folder, "authority.pem"), "utf8")]);
  const good = join(folder, "good.pem");
  const box = await served(serverLimits, { tlsCert: good, tlsKey: good });
  const talk = (parts: readonly string[], enough: number) =>
    new Promise<RawAnswer[]>((resolve, reject) => {
      const socket = connectTls({ port: box.port, host: "127.0.0.1" });
      const chunks: Buffer[] = [];
      let next = 0;
      const say = () => void (next < parts.length && socket.write(parts[next++] as string));
      socket.once("secureConnect", say);
      socket.on("error", reject);
      socket.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        const { answers } = readAnswers(Buffer.concat(chunks));
        if (answers.length < enough) return say();
        socket.destroy();
        resolve(answers);
      });
    });
  const answers = await talk([whole(box), whole(box), VERSION, whole(box)], 4);
  assert.deepEqual(statuses(answers), [202, 202, 200, 202]);
  const pipelined = await talk([whole(box) + VERSION + whole(box)], 3);
  assert.deepEqual(statuses(pipelined), [202, 200, 202]);
  assert.deepEqual(box.errors, []);
  await box.stop();
});

test("a sender known over TLS keeps its place among strangers", async () => {
  const folder = join(import.meta.dirname, "../fixtures/tls");
  setDefaultCACertificates([readFileSync(join(folder, "authority.pem"), "utf8")]);
  const good = join(folder, "good.pem");
  const box = await served({ ...serverLimits, connections: 4 }, { tlsCert: good, tlsKey: good });
  const open = async () => {
    const socket = connectTls({ port: box.port, host: "127.0.0.1" });
    socket.on("error", () => {});
    await once(socket, "secureConnect");
    return socket;
  };
  const known = await open();
  const send = async () => {
    known.write(whole(box));
    const [chunk] = (await once(known, "data")) as [Buffer];
    return String(chunk).slice(0, 12);
  };
  assert.equal(await send(), "HTTP/1.1 202");
  const crowd: Awaited<ReturnType<typeof open>>[] = [];
  for (let n = 0; n < 8; n++) crowd.push(await open());
  assert.equal(await send(), "HTTP/1.1 202");
  for (const socket of [...crowd, known]) socket.destroy();
  await box.stop();
});
