import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { createEgress, type EgressOptions } from "../../../src/ground/kit/egress.ts";
import { createNames, type Resolve } from "../../../src/ground/kit/names.ts";
import { handClock } from "../../support/clock.ts";
import { startSocketServer } from "../../support/receiver.ts";
import { startTalkServer } from "../../support/talk-server.ts";
import { until } from "../../support/until.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(undo.splice(0).map((each) => each())));

const loopback: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];

async function scene(resolve: Resolve = loopback, options: Partial<EgressOptions> = {}) {
  const server = await startTalkServer();
  const clock = handClock();
  const names = createNames({ clock, resolve });
  const egress = createEgress({ clock, rules: { role: "box" }, names, ...options });
  undo.push(
    () => egress.close(),
    () => server.close(),
  );
  const heard: string[] = [];
  const ends: string[] = [];
  const talk = (url = server.url) =>
    egress.talk({
      url,
      silentMs: 60_000,
      heard: (text) => void heard.push(text),
      ended: (why) => void ends.push(why),
    });
  return { clock, egress, server, heard, ends, talk, port: new URL(server.url).port };
}

const fault = (egressError: string) => ({ name: "EgressFault", egressError });

test("texts go both ways; each end is told once, whoever ended it", async () => {
  const { server, heard, ends, talk, egress } = await scene();
  const first = await talk(`${server.url}/link?ticket=1`);
  const [peer] = server.peers;
  assert.equal(peer?.path, "/link?ticket=1");
  first.say('{"envelope_id":"1"}');
  peer?.say("hello");
  peer?.say("é".repeat(100_000));
  peer?.sayInParts("in ", "three ", "parts");
  peer?.ping();
  await until(() => heard.length === 3 && peer?.heard.length === 1, "both heard");
  await until(() => peer?.pongs === 1, "a ping is answered");
  assert.deepEqual(
    [heard[0], heard[1]?.length, heard[2], peer?.heard],
    ["hello", 100_000, "in three parts", ['{"envelope_id":"1"}']],
  );
  peer?.end();
  await until(() => ends.length === 1, "the server's end");
  first.say("nobody hears this");

  await talk();
  server.peers[1]?.drop();
  await until(() => ends.length === 2, "the connection's end");
  const third = await talk();
  third.close();
  third.close();
  await until(() => ends.length === 3 && !server.peers[2]?.isOpen, "this side's end");
  await talk();
  await egress.close();
  await until(() => ends.length === 4 && !server.peers[3]?.isOpen, "the client's end");
  assert.deepEqual(ends.slice(2), ["stopped", "stopped"]);
  await assert.rejects(talk(), fault("stopped"));
});

test("no address that may not be called is called, by whatever spelling, and strangers' calls need wss", async () => {
  const { server, talk, port } = await scene(async () => [
    { address: "169.254.169.254", family: 4 },
  ]);
  for (const host of ["a.test", "169.254.169.254", "[::ffff:a9fe:a9fe]", "[fe80::1]"])
    await assert.rejects(talk(`ws://${host}:${port}/`), fault("address_refused"), host);
  const hosted = await scene(loopback, { rules: { role: "hosted" } });
  for (const host of ["127.0.0.1", "b.test"])
    await assert.rejects(hosted.talk(`ws://${host}:${hosted.port}`), fault("address_refused"));
  const strangers = await scene(loopback, { publicHttpsOnly: true });
  await assert.rejects(strangers.talk(), fault("https_required"));
  for (const url of [
    `http://127.0.0.1:${port}`,
    "wss://",
    "ws://user:secret@127.0.0.1/",
    "file:///",
  ])
    await assert.rejects(talk(url), fault("bad_url"), url);
  assert.equal(server.peers.length, 0);
});

test("a server that refuses, isn't there or never answers is told of in time", async () => {
  const { server, talk, clock } = await scene();
  server.refuseWith(401);
  await assert.rejects(talk(), fault("bad_response"));
  const gone = await startSocketServer(() => {});
  await gone.close();
  await assert.rejects(talk(`ws://127.0.0.1:${gone.port}`), fault("refused"));
  let connected = false;
  const silent = await startSocketServer(() => {
    connected = true;
  });
  undo.push(() => silent.close());
  const hanging = assert.rejects(talk(`ws://127.0.0.1:${silent.port}`), fault("timeout_connect"));
  await until(() => connected, "it is connected");
  await clock.turn(10_000);
  await hanging;
});

test("a line whose other side is gone without a word is ended; one that answers or speaks stays", async () => {
  const { server, talk, clock, ends } = await scene();
  await talk();
  const [peer] = server.peers;
  for (let i = 0; i < 12; i++) {
    await clock.turn(20_000);
    // The ping and its answer take the network's time.
    await fetch(server.url.replace("ws", "http"));
  }
  assert.deepEqual(ends, []);
  if (peer) peer.answersPings = false;
  await clock.turn(80_000);
  await until(() => ends.length === 1, "it is ended");
  assert.deepEqual(ends, ["timeout"]);
});

test("a text that is too long ends the line, and fills no memory", async () => {
  const { server, talk, heard, ends } = await scene();
  await talk();
  server.peers[0]?.say("x".repeat(2_000_000));
  await until(() => ends.length === 1, "it is ended");
  assert.deepEqual(heard, []);
});
