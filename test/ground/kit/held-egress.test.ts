import assert from "node:assert/strict";
import { test } from "node:test";
import type { EgressClient } from "../../../src/ground/kit/egress.ts";
import { inOrder } from "../../../src/ground/kit/gate.ts";
import { heldEgress } from "../../../src/ground/kit/held-egress.ts";
import { handClock } from "../../support/clock.ts";
import { handGate } from "../../support/gate.ts";

/** A client that notes what leaves by it, and its shares'. */
function noting() {
  const left: string[] = [];
  const client: EgressClient = {
    async send({ url }) {
      left.push(url);
      const rest = { headers: {}, body: "", truncated: false, sent: true, durationMs: 1 };
      return { error: null, status: 200, ...rest };
    },
    async dial({ host }) {
      left.push(host);
      return { socket: null as never, ca: undefined };
    },
    async talk({ url }) {
      left.push(url);
      return { say: (text) => void left.push(text), close: () => void left.push("closed") };
    },
    origins: () => 0,
    share: () => client,
    async close() {},
  };
  const clock = handClock();
  const gate = handGate();
  return { left, clock, gate, held: heldEgress(client, gate.durable, clock) };
}

const line = { silentMs: 1_000, heard() {}, ended() {} };

test("nothing leaves before the gate is opened, by whatever way, of a share neither", async () => {
  const { left, clock, gate, held } = noting();
  gate.shut();
  const share = held.share();
  const all = [
    held.send({ method: "GET", url: "a" }),
    held.dial({ host: "b", port: 1, lifeMs: 1 }),
    held.talk({ url: "c", ...line }),
    share.share().send({ method: "GET", url: "d" }),
  ];
  await clock.turn(5_000);
  assert.deepEqual(left, []);
  gate.open();
  await Promise.all(all);
  assert.deepEqual(left.sort(), ["a", "b", "c", "d"]);
});

test("what waits longer than its time is busy; what is aborted, closed or refused is stopped", async () => {
  const { left, clock, gate, held } = noting();
  gate.shut();
  const abort = new AbortController();
  const slow = held.send({ method: "GET", url: "a", timeoutMs: 1_000 });
  const aborted = held.send({ method: "GET", url: "b", signal: abort.signal });
  const share = held.share();
  const closed = share.send({ method: "GET", url: "c" });
  const dialled = share.dial({ host: "d", port: 1, lifeMs: 1 });
  dialled.catch(() => {});
  abort.abort();
  await share.close();
  await clock.turn(1_000);
  const errors = [await slow, await aborted, await closed].map(({ error, sent }) => [error, sent]);
  assert.deepEqual(errors, [
    ["busy", false],
    ["stopped", false],
    ["stopped", false],
  ]);
  await assert.rejects(dialled, { egressError: "stopped" });
  assert.equal(clock.timers(), 0);
  const never = heldEgress(share, () => Promise.reject(new Error("taken over")), clock);
  assert.equal((await never.send({ method: "GET", url: "e" })).error, "stopped");
  gate.open();
  assert.deepEqual(left, []);
});

test("words on an open line wait in their order, those said at once don't, and a line that is refused is closed", async () => {
  const { left, clock, gate, held } = noting();
  const talk = await held.talk({ url: "line", ...line });
  talk.say("1");
  gate.shut();
  talk.say("2");
  talk.say("3");
  talk.say("at once", { atOnce: true });
  await clock.turn(0);
  assert.deepEqual(left, ["line", "1", "at once"]);
  gate.open();
  talk.say("4");
  await clock.turn(0);
  assert.deepEqual(left, ["line", "1", "at once", "2", "3", "4"]);
  talk.say("5");
  assert.equal(left.at(-1), "5");
});

test("acts that are refused are told so, and later ones go on in order", async () => {
  const done: string[] = [];
  let gate: () => Promise<void> | null = () => Promise.reject(new Error("never"));
  const act = inOrder(
    () => gate(),
    () => done.push("refused"),
  );
  act(() => done.push("1"));
  gate = () => null;
  act(() => done.push("2"));
  await new Promise(setImmediate);
  act(() => done.push("3"));
  assert.deepEqual(done, ["refused", "2", "3"]);
});
