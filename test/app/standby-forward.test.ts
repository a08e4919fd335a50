import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { createForwarder } from "../../src/app/standby-forward.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { until } from "../support/until.ts";

const HOLD_MS = 20_000;
const OWNER = { run: "a", address: "10.0.0.11:8091" };

/** A machine that stands by, and one that serves and answers each line with the same in capitals. */
async function stage(t: TestContext) {
  const clock = handClock();
  const [accepted, served, lost]: [Socket[], Socket[], Error[]] = [[], [], []];
  let isUp = true;
  let late = 0;
  const owner = createServer((socket) => {
    served.push(socket.on("error", () => {}));
    socket.on("data", (chunk: Buffer) => socket.write(chunk.toString().toUpperCase()));
  }).listen(0, "127.0.0.1");
  await once(owner, "listening");
  const dials: string[] = [];
  const forwarder = createForwarder(clock, async (address) => {
    dials.push(address);
    if (!isUp) throw new Error("it doesn't answer");
    const link = connect((owner.address() as AddressInfo).port, "127.0.0.1");
    await once(link, "connect");
    return link;
  });
  const door = (isAsking: boolean) =>
    createServer({ allowHalfOpen: true }, (socket) => {
      accepted.push(socket);
      const of = { socket, port: "http", isSecure: false, certificate: null, isAsking };
      const tell = () => {
        late++;
        socket.end("later");
      };
      forwarder.send({ ...of, late: tell });
    }).listen(0, "127.0.0.1");
  const [asking, telling] = [door(true), door(false)];
  await Promise.all([once(asking, "listening"), once(telling, "listening")]);
  t.after(() => {
    forwarder.close();
    for (const server of [owner, asking, telling]) server.close();
    for (const socket of [...accepted, ...served]) socket.destroy();
  });
  const come = async (said: string, isAsking = true) => {
    const { port } = (isAsking ? asking : telling).address() as AddressInfo;
    const socket = connect(port, "127.0.0.1");
    const heard = { socket, text: "" };
    socket.on("error", (error) => lost.push(error));
    socket.on("data", (chunk: Buffer) => {
      heard.text += chunk;
    });
    const before = accepted.length;
    socket.write(said);
    await until(() => accepted.length > before, "it is accepted");
    return heard;
  };
  return {
    clock: clock as HandClock,
    forwarder,
    dials,
    served,
    accepted,
    come,
    late: () => late,
    up: (is: boolean) => (isUp = is),
  };
}

test("what comes is sent on to whoever serves, both ways", async (t) => {
  const { forwarder, come, served } = await stage(t);
  forwarder.sees(OWNER);
  const one = await come("hello");
  await until(() => one.text === "HELLO", "the answer comes");
  one.socket.write(" again");
  await until(() => one.text === "HELLO AGAIN", "the second one does");
  one.socket.destroy();
  await until(() => served[0]?.destroyed === true, "the owner hears that it has gone");
});

test("while nobody serves it is held, and goes to whoever serves next", async (t) => {
  const { forwarder, come, dials, clock, late } = await stage(t);
  const one = await come("held");
  await clock.turn(HOLD_MS - 1);
  assert.deepEqual([dials.length, late(), forwarder.held()], [0, 0, 1]);
  forwarder.sees(OWNER);
  await until(() => one.text === "HELD", "the answer comes");
  assert.equal(forwarder.held(), 0);
});

test("it is held for twenty seconds, and then told so; what it said is there unread", async (t) => {
  const { forwarder, come, clock, late, accepted } = await stage(t);
  const one = await come("held");
  await until(() => accepted[0]?.bytesRead === 4, "it is read");
  await clock.turn(HOLD_MS);
  assert.equal(late(), 1);
  assert.equal(String(accepted[0]?.read()), "held");
  await until(() => one.text === "later", "it is told");
  assert.deepEqual([forwarder.held(), forwarder.counts.refused], [0, 1]);
});

test("a machine that doesn't answer is asked again, for one of those that wait", async (t) => {
  const { forwarder, come, up, dials, clock } = await stage(t);
  let told = 0;
  forwarder.onRefused(() => told++);
  up(false);
  forwarder.sees(OWNER);
  const all = [await come("a"), await come("b"), await come("c")];
  await clock.turn(0);
  assert.equal(forwarder.fault(), "it doesn't answer");
  const before = dials.length;
  await clock.turn(2_000);
  assert.equal(told, dials.length, "each time it is told so");
  assert.ok(dials.length - before <= 8, `${dials.length - before} tries in two seconds`);
  up(true);
  await clock.turn(250);
  await until(() => all.map(({ text }) => text).join("") === "ABC", "all are served");
  assert.equal(forwarder.fault(), null);
});

test("nobody serves a caller that has gone away; what a sender said before it left is sent on", async (t) => {
  const { forwarder, come, served, accepted } = await stage(t);
  const caller = await come("question");
  const sender = await come("news", false);
  caller.socket.end();
  sender.socket.end();
  await until(() => accepted[0]?.destroyed === true, "the caller has gone");
  assert.equal(forwarder.held(), 1);
  forwarder.sees(OWNER);
  await until(() => sender.text === "NEWS", "the news arrive");
  assert.deepEqual([served.length, caller.text], [1, ""]);
});

test("when another machine serves, connections to the one before end", async (t) => {
  const { forwarder, come } = await stage(t);
  forwarder.sees(OWNER);
  const one = await come("hello");
  await until(() => one.text === "HELLO", "the answer comes");
  forwarder.sees({ ...OWNER });
  assert.equal(one.socket.destroyed, false);
  forwarder.sees(null);
  await until(() => one.socket.readableEnded, "it is closed");
});

test("a machine that serves itself gives its own ports what is held and what comes", async (t) => {
  const { forwarder, come, dials } = await stage(t);
  const held = await come("held");
  const given: string[] = [];
  forwarder.giveTo((port) => (socket) => {
    given.push(port);
    socket.on("data", (chunk: Buffer) => socket.end(`own ${chunk}`));
    socket.resume();
  });
  const later = await come("later");
  await until(() => held.text === "own held" && later.text === "own later", "both are answered");
  assert.deepEqual([given, dials], [["http", "http"], []]);
});

test("at its end connections are closed, within a second", async (t) => {
  const { forwarder, come, served, clock } = await stage(t);
  const waiting = await come("held");
  forwarder.sees(OWNER);
  await until(() => waiting.text === "HELD", "it is served");
  forwarder.close();
  await until(() => served[0]?.readableEnded === true, "the owner hears that there is no more");
  await clock.turn(1_000);
  await until(() => waiting.socket.readableEnded, "it is closed");
});

test("of what those that are held say, no more than some megabytes are kept", async (t) => {
  const { forwarder, come, late } = await stage(t);
  const big = "x".repeat(70_000);
  for (let i = 0; late() === 0 && i < 400; i++) await come(big);
  assert.ok(forwarder.held() < 400, `${forwarder.held()} are held`);
  assert.ok(forwarder.held() >= 200, `${forwarder.held()} are held`);
});
