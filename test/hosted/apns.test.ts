import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { ApnsClient, type ApnsPush } from "../../src/hosted/apns.ts";
import { providerToken } from "../../src/hosted/apns-token.ts";
import { createPushCounts, type PushEnd } from "../../src/hosted/push-counts.ts";
import type { Apns } from "../../src/hosted/registry/apns-settings.ts";
import { type FakeApns, type FakeApnsOptions, startFakeApns } from "../support/apns.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { hostedBench } from "../support/hosted.ts";

const device = (n: number) => n.toString(16).padStart(64, "0");

function pushTo(token: string, more: Partial<ApnsPush> = {}): ApnsPush {
  const payload = JSON.stringify({ aps: { alert: { title: "t", body: "b" } } });
  return { token, payload, collapseId: "tenant.1", expiresAt: 1_800_000_000, ...more };
}

/** A registry with the provider's settings. */
async function tokensOf(t: TestContext, fake: FakeApns, clock: HandClock): Promise<Apns> {
  const { apns } = hostedBench(t, clock).registry;
  const { keyId, teamId, topic, endpoint, ca, key } = fake;
  await apns.set({ keyId, teamId, topic, endpoint, ca, key });
  return apns;
}

interface Bench {
  fake: FakeApns;
  clock: HandClock;
  client: ApnsClient;
  /** How pushes ended; ends that didn't occur are left out. */
  ends(): Partial<Record<PushEnd, number>>;
}

async function bench(
  t: TestContext,
  options: FakeApnsOptions & { clock?: HandClock } = {},
): Promise<Bench> {
  const clock = options.clock ?? handClock();
  const fake = await startFakeApns(options);
  const { keyId, teamId, topic, endpoint, ca } = fake;
  const provider = providerToken({
    key: createPrivateKey(fake.key),
    keyId,
    teamId,
    clock,
    version: 1,
    tokens: await tokensOf(t, fake, clock),
  });
  const counts = createPushCounts();
  const client = new ApnsClient({ endpoint, ca, topic, provider, clock, counted: counts.add });
  t.after(async () => {
    client.close();
    await fake.close();
  });
  const ends = () =>
    Object.fromEntries(counts.all().flatMap(({ end, n }) => (n > 0 ? [[end, n]] : [])));
  return { fake, clock, client, ends };
}

test("a push carries the headers that APNs wants", async (t) => {
  const { fake, client } = await bench(t, { now: () => Date.UTC(2026, 0, 5, 9) });
  assert.deepEqual(await client.push(pushTo(device(1))), { kind: "delivered" });
  const headers = fake.received[0]?.headers ?? {};
  assert.equal(headers[":path"], `/3/device/${device(1)}`);
  assert.equal(headers["apns-topic"], fake.topic);
  assert.equal(headers["apns-push-type"], "alert");
  assert.equal(headers["apns-priority"], "10");
  assert.equal(headers["apns-expiration"], "1800000000");
  assert.equal(headers["apns-collapse-id"], "tenant.1");
});

test("200 pushes use one connection together, within the peer's limit of streams", async (t) => {
  const { fake, client } = await bench(t, { streams: 7, oneFirst: true });
  const all = Array.from({ length: 200 }, (_, n) => client.push(pushTo(device(n))));
  for (const result of await Promise.all(all)) assert.deepEqual(result, { kind: "delivered" });
  assert.equal(fake.sessions, 1);
  assert.equal(fake.delivered().length, 200);
  assert.equal(fake.mostStreams, 7);
  assert.equal(fake.providerTokens.size, 1);
});

test("each answer of APNs is the push's result", async (t) => {
  const { fake, client } = await bench(t);
  const answers = [
    [
      { status: 410, reason: "Unregistered", timestamp: 1234 },
      { kind: "gone", at: 1234 },
    ],
    [
      { status: 400, reason: "BadDeviceToken" },
      { kind: "bad_token", why: "APNs answered 400 BadDeviceToken" },
    ],
    [
      { status: 429, reason: "TooManyRequests", retryAfter: "7" },
      { kind: "retry", why: "APNs answered 429 TooManyRequests", retryAfter: 7 },
    ],
    [
      { status: 403, reason: "InvalidProviderToken" },
      { kind: "misconfigured", why: "APNs answered 403 InvalidProviderToken" },
    ],
  ] as const;
  for (const [index, [step, expected]] of answers.entries()) {
    fake.script(device(index), step);
    assert.deepEqual(await client.push(pushTo(device(index))), expected);
  }
});

test("each push is counted once, by how it ended", async (t) => {
  const { fake, client, clock, ends } = await bench(t);
  const expected: Partial<Record<PushEnd, number>> = {};
  const ending = async (end: PushEnd, push: Promise<unknown>) => {
    await push;
    expected[end] = (expected[end] ?? 0) + 1;
    assert.deepEqual(ends(), expected);
  };
  const answers: [PushEnd, number, string][] = [
    ["delivered", 200, ""],
    ["unregistered", 410, "Unregistered"],
    ["bad_token", 400, "DeviceTokenNotForTopic"],
    ["refused", 400, "TopicDisallowed"],
    ["refused", 413, "PayloadTooLarge"],
    ["refused", 418, "NeverHeardOf"],
    ["provider_token", 403, "InvalidProviderToken"],
    ["provider_token", 403, "ExpiredProviderToken"],
    ["provider_token", 429, "TooManyProviderTokenUpdates"],
    ["throttled", 429, "TooManyRequests"],
    ["provider", 503, "Shutdown"],
    ["provider", 500, ""],
  ];
  for (const [end, status, reason] of answers) {
    fake.script(device(1), { status, reason });
    await ending(end, client.push(pushTo(device(1))));
  }
  // A push that is sent again and then accepted counts once.
  fake.script(device(1), { refuse: true });
  await ending("delivered", client.push(pushTo(device(1))));
  fake.script(device(1), { reset: "stream" }, { reset: "stream" });
  await ending("connection", client.push(pushTo(device(1))));
  fake.script(device(1), { refuse: true });
  const withdrawn = pushTo(device(1), { stillWanted: async () => false });
  await ending("withdrawn", client.push(withdrawn));
  const looked = fake.received.length + 1;
  fake.script(device(1), { stall: true });
  const late = client.push(pushTo(device(1)));
  await fake.seen(looked);
  await clock.turn(5_000);
  await ending("timeout", late);
  await ending("timeout", client.push(pushTo(device(1), { since: clock.mono() - 5_000 })));
  client.close();
  await ending("closing", client.push(pushTo(device(1))));
});

test("a push on a refused stream is sent again", async (t) => {
  const { fake, client } = await bench(t);
  fake.script(device(1), { refuse: true }, { refuse: true });
  assert.deepEqual(await client.push(pushTo(device(1))), { kind: "delivered" });
  assert.equal(fake.received.length, 3);
  assert.equal(fake.sessions, 1);
});

test("a push that the peer refuses for ever ends as retry", async (t) => {
  const { fake, client } = await bench(t);
  fake.script(device(1), ...Array.from({ length: 9 }, () => ({ refuse: true }) as const));
  const result = await client.push(pushTo(device(1)));
  assert.deepEqual(result, { kind: "retry", why: "APNs refused the stream", retryAfter: null });
});

test("after GOAWAY accepted pushes are answered on the old connection, the rest on a new one", async (t) => {
  const { fake, client } = await bench(t);
  await client.push(pushTo(device(1)));
  fake.script(device(2), { goaway: "through" });
  fake.script(device(3), { goaway: "below" });
  assert.deepEqual(await client.push(pushTo(device(2))), { kind: "delivered" });
  assert.deepEqual(await client.push(pushTo(device(1))), { kind: "delivered" });
  assert.equal(fake.sessions, 2);
  assert.deepEqual(await client.push(pushTo(device(3))), { kind: "delivered" });
  assert.equal(fake.sessions, 3);
  assert.deepEqual(fake.delivered(), [device(1), device(2), device(1), device(3)]);
});

test("a burst through a GOAWAY reaches every device exactly once", async (t) => {
  const { fake, client } = await bench(t);
  await client.push(pushTo(device(0)));
  fake.script(device(50), { goaway: "below" });
  const all = Array.from({ length: 100 }, (_, n) => client.push(pushTo(device(n + 1))));
  for (const result of await Promise.all(all)) assert.deepEqual(result, { kind: "delivered" });
  const expected = Array.from({ length: 101 }, (_, n) => device(n));
  assert.deepEqual(fake.delivered().sort(), expected);
  assert.equal(fake.sessions, 2);
});

test("a push that was certainly not processed is sent again more often than one that may have been", async (t) => {
  const { fake, client, clock } = await bench(t);
  await client.push(pushTo(device(2)));
  await client.push(pushTo(device(2)));
  fake.script(device(1), { goaway: "below" }, { refuse: true }, { goaway: "below" });
  const result = client.push(pushTo(device(1)));
  // The second connection never answered, so the third waits; the clock turns only for that.
  while (fake.sessions < 3) await clock.turn(1);
  assert.deepEqual(await result, { kind: "delivered" });
  assert.equal(fake.received.length, 6);
});

test("a push whose connection or stream breaks is tried once more", async (t) => {
  const { fake, client } = await bench(t);
  await client.push(pushTo(device(9)));
  for (const reset of ["stream", "connection"] as const) {
    fake.script(device(1), { reset });
    assert.deepEqual(await client.push(pushTo(device(1))), { kind: "delivered" });
    fake.script(device(1), { reset }, { reset });
    assert.equal((await client.push(pushTo(device(1)))).kind, "retry");
  }
});

test("an answer that arrived while the process stood still counts, also after the deadline", async (t) => {
  const { fake, clock, client } = await bench(t);
  const over = Promise.withResolvers<void>();
  fake.script(device(1), { until: over.promise, next: { status: 200 } });
  const push = client.push(pushTo(device(1)));
  await fake.seen(1);
  over.resolve();
  // The fake has answered, and the answer isn't read: timers run first.
  await over.promise;
  void clock.turn(6_000);
  assert.deepEqual(await push, { kind: "delivered" });
});

test("a push that waited while its process stood still isn't sent: another node may have its hold by then", async (t) => {
  const { fake, clock, client, ends } = await bench(t);
  const push = pushTo(device(1), {
    // The answer is there when the process goes on, and is read before timers run.
    stillWanted: async () => {
      void clock.turn(6_000);
      return true;
    },
  });
  assert.equal((await client.push(push)).kind, "retry");
  assert.deepEqual([fake.delivered(), ends()], [[], { timeout: 1 }]);
  assert.equal((await client.push(pushTo(device(2)))).kind, "delivered");
  assert.deepEqual(fake.delivered(), [device(2)]);
});

test("a push that had to wait has as long for its answer as any other, so its phone isn't rung twice", async (t) => {
  const { fake, clock, client } = await bench(t);
  const answered = Promise.withResolvers<void>();
  fake.script(device(1), { until: answered.promise, next: { status: 200 } });
  const push = client.push(
    pushTo(device(1), {
      stillWanted: async () => {
        await clock.turn(4_000);
        return true;
      },
    }),
  );
  await fake.seen(1);
  await clock.turn(3_000);
  // If its time were over, the result would be there by now.
  for (let turn = 0; turn < 20; turn++) await clock.turn(0);
  answered.resolve();
  assert.deepEqual(await push, { kind: "delivered" });
});

test("no push is sent later than five seconds after its page began", async (t) => {
  const { fake, clock, client, ends } = await bench(t);
  const since = clock.mono();
  await clock.turn(3_000);
  const slow = pushTo(device(1), {
    since,
    stillWanted: async () => {
      void clock.turn(2_000);
      return true;
    },
  });
  assert.equal((await client.push(slow)).kind, "retry");
  assert.equal((await client.push(pushTo(device(1), { since }))).kind, "retry");
  assert.deepEqual([fake.received.length, ends()], [0, { timeout: 2 }]);
});

test("a reached phone counts although the end of the answer never comes", async (t) => {
  const { fake, client, clock } = await bench(t);
  fake.script(device(1), { status: 200, unended: true });
  const push = client.push(pushTo(device(1)));
  await fake.seen(1);
  // Answers that came earlier are read first.
  assert.deepEqual(await client.push(pushTo(device(2))), { kind: "delivered" });
  await clock.turn(5_000);
  assert.deepEqual(await push, { kind: "delivered" });
});

test("a connection that answers pings and no push is closed, and the next push uses another", async (t) => {
  const { fake, client, clock } = await bench(t);
  await client.push(pushTo(device(1)));
  fake.script(device(1), { stall: true });
  fake.script(device(2), { stall: true });
  const mute = [client.push(pushTo(device(1))), client.push(pushTo(device(2)))];
  await fake.seen(3);
  await clock.turn(5_000);
  for (const { kind } of await Promise.all(mute)) assert.equal(kind, "retry");
  assert.deepEqual(await client.push(pushTo(device(3))), { kind: "delivered" });
  assert.equal(fake.sessions, 2);
});

test("a stalled stream is given up after 5 s and delays no other push", async (t) => {
  const { fake, client, clock } = await bench(t);
  fake.script(device(1), { stall: true });
  const stalled = client.push(pushTo(device(1)));
  await fake.seen(1);
  assert.deepEqual(await client.push(pushTo(device(2))), { kind: "delivered" });
  await clock.turn(4_999);
  assert.deepEqual(await client.push(pushTo(device(3))), { kind: "delivered" });
  await clock.turn(1);
  const result = await stalled;
  assert.deepEqual(result, {
    kind: "retry",
    why: "no answer from APNs within 5 s",
    retryAfter: null,
  });
  assert.equal(fake.sessions, 1);
});

test("a connection that doesn't answer a ping is closed, and the next push uses another", async (t) => {
  const fake = await startFakeApns();
  const line = await tcpLine(Number(new URL(fake.endpoint).port));
  t.after(() => Promise.all([line.close(), fake.close()]));
  const clock = handClock();
  const { keyId, teamId, topic, ca } = fake;
  const provider = providerToken({
    key: createPrivateKey(fake.key),
    keyId,
    teamId,
    clock,
    version: 1,
    tokens: await tokensOf(t, fake, clock),
  });
  const client = new ApnsClient({ endpoint: line.endpoint, ca, topic, provider, clock });
  await client.push(pushTo(device(1)));
  line.cut();
  const lost = client.push(pushTo(device(1)));
  await clock.turn(5_000);
  assert.equal((await lost).kind, "retry");
  // The ping goes out once the stream has ended, and has 5 s.
  for (let second = 0; second < 8; second++) await clock.turn(1_000);
  assert.deepEqual(await client.push(pushTo(device(2))), { kind: "delivered" });
  assert.equal(fake.sessions, 2);
  client.close();
});

test("an idle connection is pinged once a minute and kept", async (t) => {
  const { fake, client, clock } = await bench(t);
  await client.push(pushTo(device(1)));
  for (let minute = 1; minute <= 3; minute++) {
    await clock.turn(60_000);
    await until(() => fake.pings === minute);
    assert.deepEqual(await client.push(pushTo(device(minute))), { kind: "delivered" });
  }
  assert.equal(fake.sessions, 1);
});

test("with no server a push ends as retry at once, and the next connection waits", async (t) => {
  const door = await closedDoor();
  t.after(() => door.close());
  const clock = handClock();
  const provider = { current: () => "jwt", refused: async () => false };
  const { endpoint } = door;
  const client = new ApnsClient({ endpoint, ca: undefined, topic: "t", provider, clock });
  t.after(() => client.close());
  const first = await client.push(pushTo(device(1)));
  assert.equal(first.kind, "retry");
  assert.match(first.kind === "retry" ? first.why : "", /^no connection to APNs: \w+/);
  assert.equal(await door.knocks(), 1);
  for (const wait of [250, 500, 1000, 2000, 4000]) {
    const next = client.push(pushTo(device(1)));
    await clock.turn(wait - 1);
    assert.equal(await door.knocks(), 0);
    await clock.turn(1);
    assert.equal((await next).kind, "retry");
    assert.equal(await door.knocks(), 1);
  }
});

test("an invalid endpoint is a fault of the configuration", async () => {
  const clock = handClock();
  const provider = { current: () => "jwt", refused: async () => false };
  const client = new ApnsClient({
    endpoint: "no address",
    ca: undefined,
    topic: "t",
    provider,
    clock,
  });
  assert.equal((await client.push(pushTo(device(1)))).kind, "misconfigured");
  client.close();
});

test("an untrusted certificate delivers nothing", async (t) => {
  const { fake, clock } = await bench(t);
  const provider = { current: () => "jwt", refused: async () => false };
  const { endpoint, topic } = fake;
  const client = new ApnsClient({ endpoint, ca: undefined, topic, provider, clock });
  assert.equal((await client.push(pushTo(device(1)))).kind, "retry");
  assert.equal(fake.received.length, 0);
  client.close();
});

test("an expired provider token is renewed and the push sent again", async (t) => {
  const clock = handClock();
  let skew = 0;
  const { fake, client } = await bench(t, { clock, now: () => clock.now() + skew });
  await client.push(pushTo(device(1)));
  await clock.turn(21 * 60_000);
  skew = 40 * 60_000;
  // The new token is still 40 minutes old for this peer, but within its hour.
  const results = await Promise.all([1, 2, 3].map((n) => client.push(pushTo(device(n)))));
  for (const result of results) assert.deepEqual(result, { kind: "delivered" });
  assert.equal(fake.providerTokens.size, 2);
});

test("a peer that calls a young token expired gets no new one within 20 minutes", async (t) => {
  const clock = handClock();
  const { fake, client } = await bench(t, { clock, now: () => clock.now() + 2 * 3_600_000 });
  assert.equal((await client.push(pushTo(device(1)))).kind, "retry");
  await clock.turn(19 * 60_000);
  assert.equal((await client.push(pushTo(device(1)))).kind, "retry");
  assert.equal(fake.providerTokens.size, 1);
});

test("a push that waited goes out only while it is still wanted", async (t) => {
  const { fake, client } = await bench(t);
  fake.script(device(1), { refuse: true });
  fake.script(device(2), { refuse: true });
  fake.script(device(4), { refuse: true });
  const asked: string[] = [];
  const wanted = (token: string, answer: boolean) =>
    pushTo(token, {
      stillWanted: async () => {
        asked.push(token);
        return answer;
      },
    });
  const unreadable = pushTo(device(4), { stillWanted: () => Promise.reject(new Error("no")) });
  assert.deepEqual(await client.push(wanted(device(1), false)), { kind: "withdrawn" });
  assert.deepEqual(await client.push(wanted(device(2), true)), { kind: "delivered" });
  assert.deepEqual(await client.push(wanted(device(3), false)), { kind: "delivered" });
  assert.equal((await client.push(unreadable)).kind, "retry");
  assert.deepEqual(asked, [device(1), device(2)]);
  assert.deepEqual(fake.delivered(), [device(2), device(3)]);
});

test("a push that found no free stream asks whether it is still wanted, and leaves its place when it isn't", async (t) => {
  const { fake, client } = await bench(t, { streams: 1 });
  await client.push(pushTo(device(0)));
  const gate = Promise.withResolvers<void>();
  fake.script(device(1), { until: gate.promise, next: { status: 200 } });
  const asked: string[] = [];
  const waiting = (token: string, answer: boolean) =>
    client.push(
      pushTo(token, {
        stillWanted: async () => {
          asked.push(token);
          return answer;
        },
      }),
    );
  const results = [waiting(device(1), false), waiting(device(2), false), waiting(device(3), true)];
  await fake.seen(2);
  gate.resolve();
  const kinds = (await Promise.all(results)).map((result) => result.kind);
  assert.deepEqual(kinds, ["delivered", "withdrawn", "delivered"]);
  assert.deepEqual(asked, [device(2), device(3)]);
});

test("close ends waiting pushes", async (t) => {
  const { fake, client } = await bench(t, { streams: 1 });
  await client.push(pushTo(device(0)));
  fake.script(device(1), { stall: true });
  const under = client.push(pushTo(device(1)));
  const waits = client.push(pushTo(device(2)));
  await fake.seen(2);
  client.close();
  assert.deepEqual(await waits, { kind: "retry", why: "shutting down", retryAfter: null });
  assert.equal((await client.push(pushTo(device(3)))).kind, "retry");
  void under;
});

/** Checks in each turn of the event loop; the test's time limit ends it. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

/** A proxy to `port` whose connections can be cut without telling either end. */
async function tcpLine(port: number) {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `https://localhost:${(server.address() as AddressInfo).port}`,
    cut() {
      for (const socket of sockets) socket.unpipe().pause();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/** A port that closes every connection; `knocks` counts the callers since its last call. */
async function closedDoor() {
  const callers: (number | undefined)[] = [];
  const server = createServer((socket) => {
    callers.push(socket.remotePort);
    socket.on("error", () => {});
    socket.destroy();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `https://127.0.0.1:${port}`,
    /** Connects itself: every earlier caller has been counted then. */
    async knocks() {
      const own = connect(port, "127.0.0.1");
      own.on("error", () => {});
      await once(own, "connect");
      const { localPort } = own;
      await until(() => callers.includes(localPort));
      return callers.splice(0).indexOf(localPort);
    },
    async close() {
      server.close();
      await once(server, "close");
    },
  };
}
