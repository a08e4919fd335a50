import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { dialMachine, openMachineLink } from "../../src/app/machine-link.ts";
import { createEgress } from "../../src/ground/kit/egress.ts";
import type { KeyRing, SealingKey } from "../../src/ground/kit/key-ring.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { until } from "../support/until.ts";

const keyOf = (id: string, byte: number): SealingKey => ({ id, bytes: Buffer.alloc(32, byte) });
const ringOf = (...keys: SealingKey[]): KeyRing => ({
  present: keys[0] as SealingKey,
  keys: new Map(keys.map((key) => [key.id, key])),
  random: systemRandom,
});
const OURS = keyOf("1111111111111111", 1);
const OLDER = keyOf("2222222222222222", 2);
const CAME = {
  port: "http",
  address: "203.0.113.7",
  peerPort: 4711,
  isSecure: false,
  certificate: null,
};
const GREETING_MS = 5_000;

interface Stage {
  clock: HandClock;
  port: number;
  /** How many connections the machine that serves took. */
  taken(): number;
  dial(ring: KeyRing, port?: number, came?: object): Promise<Socket>;
}

/** A machine that serves HTTP: each request is told who asked, and what. */
async function stage(t: TestContext): Promise<Stage> {
  const clock = handClock();
  let taken = 0;
  const http = createHttpServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { remoteAddress, remotePort } = request.socket;
    const isSecure = "encrypted" in request.socket && request.socket.encrypted;
    const bytes = Buffer.concat(chunks).length;
    response.end(JSON.stringify({ remoteAddress, remotePort, isSecure, bytes }));
  });
  const link = await openMachineLink(
    { host: "127.0.0.1", port: 0 },
    {
      clock,
      keys: () => ringOf(OURS, OLDER),
      taker: (port) =>
        port === "http"
          ? (socket) => {
              taken++;
              http.emit("connection", socket);
              socket.resume();
            }
          : null,
    },
  );
  const egress = createEgress({ clock, rules: { role: "box" } });
  t.after(async () => {
    await egress.close();
    await link.close();
    http.close();
  });
  return {
    clock,
    port: link.port,
    taken: () => taken,
    dial: (ring, port = link.port, came = CAME) =>
      dialMachine({ host: "127.0.0.1", port }, came as typeof CAME, {
        clock,
        egress,
        keys: () => ring,
      }),
  };
}

/** Sends requests by one connection, and reads the answers' bodies. */
async function asked(socket: Socket, bodies: readonly string[]): Promise<unknown[]> {
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  socket.resume();
  const answers: unknown[] = [];
  for (const body of bodies) {
    text = "";
    socket.write(
      `POST / HTTP/1.1\r\nHost: box\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    await until(() => /\r\n\r\n.*\}/s.test(text), "an answer comes");
    answers.push(
      JSON.parse(
        text.slice(text.indexOf("\r\n\r\n") + 4).replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, ""),
      ),
    );
  }
  return answers;
}

test("a connection by the link is served as the sender's own, request after request", async (t) => {
  const { dial } = await stage(t);
  const link = await dial(ringOf(OURS));
  const who = { remoteAddress: CAME.address, remotePort: CAME.peerPort, isSecure: false };
  assert.deepEqual(await asked(link, ["", "x".repeat(100_000), "y"]), [
    { ...who, bytes: 0 },
    { ...who, bytes: 100_000 },
    { ...who, bytes: 1 },
  ]);
  link.destroy();
  const older = await dial(ringOf(OLDER), undefined, { ...CAME, isSecure: true });
  assert.deepEqual(await asked(older, ["z"]), [{ ...who, isSecure: true, bytes: 1 }]);
  older.destroy();
});

test("what goes by the link can't be read on the way", async (t) => {
  const { dial, port } = await stage(t);
  const seen: Buffer[] = [];
  const tap = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (chunk: Buffer) => {
        seen.push(chunk);
        to.write(chunk);
      });
      from.on("error", () => {}).on("close", () => to.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(tap, "listening");
  t.after(() => tap.close());
  const link = await dial(ringOf(OURS), (tap.address() as AddressInfo).port);
  await asked(link, ["pti_canary_of_a_token"]);
  link.destroy();
  const bytes = Buffer.concat(seen);
  assert.ok(bytes.length > 200, `${bytes.length} bytes were seen`);
  for (const secret of ["pti_canary", "POST", "taken", CAME.address, "remoteAddress"])
    assert.equal(bytes.indexOf(secret), -1, secret);
  for (const key of [OURS, OLDER]) assert.equal(bytes.indexOf(key.bytes), -1);
});

test("a stranger gets a TLS alert, whatever it tries, and nothing that serves sees it", async (t) => {
  const { dial, port, taken } = await stage(t);
  await assert.rejects(dial(ringOf(keyOf(OURS.id, 9))), /bad record mac/);
  await assert.rejects(dial(ringOf(keyOf("3333333333333333", 1))), /unknown psk identity/i);
  await assert.rejects(dial(ringOf(OURS), port, { ...CAME, port: "ssh" }), /doesn't take/);
  await assert.rejects(dial(ringOf(OURS), port, { port: "http" }), /doesn't take/);
  const plain = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false });
  const [refused] = (await once(plain, "error")) as [Error];
  assert.match(refused.message, /handshake failure/);
  const curious = connect(port, "127.0.0.1");
  const said: Buffer[] = [];
  curious.on("data", (chunk: Buffer) => said.push(chunk));
  curious.write("GET / HTTP/1.1\r\nHost: box\r\n\r\n");
  await once(curious, "close");
  assert.ok(Buffer.concat(said).length <= 7, "an alert of TLS has seven bytes");
  assert.equal(taken(), 0);
});

test("strangers that say nothing hold few places for a short time, and keep nobody out", async (t) => {
  const { clock, dial, port } = await stage(t);
  const silent: Socket[] = [];
  const come = async (n: number) => {
    for (let i = 0; i < n; i++) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      silent.push(socket);
      await once(socket, "connect");
    }
  };
  await come(140);
  const gone = () => silent.filter((socket) => socket.readableEnded || socket.destroyed).length;
  for (const socket of silent) socket.resume();
  await until(() => gone() === 140 - 128, "the first were closed for the last");
  (await dial(ringOf(OURS))).destroy();
  await until(() => gone() === 140 - 127, "one more was");
  await clock.turn(GREETING_MS);
  await until(() => gone() === 140, "all are closed");
});
