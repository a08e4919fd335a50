import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { BoxDeps } from "../../src/app/parts.ts";
import { widenThreadPool } from "../../src/ground/kit/thread-pool.ts";
import { exchange, ingestHead, inPieces } from "../network/raw.ts";
import { realClock } from "../support/clock.ts";
import { type TestHosted, testHosted } from "../support/hosted-role.ts";
import { answer, hang, startReceiver } from "../support/receiver.ts";

/** One hosted tenant's work must not delay another's pages. */

interface Neighbour {
  key: string;
  /** Its ingest token. */
  token: string;
  post(path: string, body?: object): Promise<{ id: string; token: string }>;
  /** Opens an alert. */
  fire(): Promise<void>;
}

async function hostedFor(t: TestContext, flags: object, deps: Partial<BoxDeps> = {}) {
  const loopback = { egressAllow: ["127.0.0.0/8"], ...flags };
  const hosted = await testHosted(loopback, realClock(), deps);
  t.after(() => hosted.stop());
  return hosted;
}

/** A tenant with a project, a rule and a source. */
async function neighbour(hosted: TestHosted, name: string, rule: object = {}): Promise<Neighbour> {
  const key = await hosted.desk(async (desk) => {
    const { tenant_id: tenant } = await desk.addTenant({ kind: "hosted" });
    return (await desk.addKey({ tenant, email: `${name}@example.com` })).api_key;
  });
  const post = async (path: string, body: object = {}) => {
    const made = await hosted.call("POST", `/v1/projects${path}`, { token: key, body });
    assert.ok(made.status < 300, `${path}: ${JSON.stringify(made.body)}`);
    return made.body;
  };
  await post("", { name: "shop" });
  const { token } = await post("/shop/sources", { name: "app" });
  await post("/shop/rules", { name: "any", ...rule });
  return {
    key,
    token,
    post,
    async fire() {
      const body = { message: "Disk is full", level: 500 };
      const taken = await hosted.call("POST", "/v1/ingest", { token, body });
      assert.deepEqual([taken.status, taken.body.alerted], [202, true]);
    },
  };
}

/** How long it takes until `done`, at most ten seconds. */
async function took(done: () => boolean): Promise<number> {
  const start = performance.now();
  while (!done() && performance.now() - start < 10_000) await pause(10);
  return performance.now() - start;
}

/** Accepts connections at every address of this machine, and never answers. */
async function silentServer(t: TestContext) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => {})));
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", 4096, resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { port, connections: () => sockets.size };
}

const telegram = (who: string) => ({ type: "telegram", name: who, token: who, chat_id: "1" });

test("one tenant's slow tests of channels don't delay another's Telegram", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  receiver.always((response, socket, request) => {
    const slow = request.path.includes("1111");
    (slow ? hang : answer(200, { ok: true }))(response, socket, request);
  });
  const hosted = await hostedFor(t, { telegramApi: receiver.url });
  const [ada, ben] = [await neighbour(hosted, "ada"), await neighbour(hosted, "ben")];
  const slow = await ada.post("/shop/integrations", telegram(`1111:${"a".repeat(35)}`));
  await ben.post("/shop/integrations", telegram(`2222:${"b".repeat(35)}`));
  for (let i = 0; i < 32; i++)
    void hosted
      .call("POST", `/v1/projects/shop/integrations/${slow.id}/test`, { token: ada.key })
      .catch(() => {});
  await took(() => receiver.received.length === 32);
  await ben.fire();
  const ms = await took(() => receiver.received.some(({ path }) => path.includes("2222")));
  assert.ok(ms < 2000, `${Math.round(ms)} ms`);
});

test("a tenant's slow tests and actions don't delay its pages to the same host", async (t) => {
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  receiver.always((response, socket, request) => {
    const slow = request.path === "/slow";
    (slow ? hang : answer(204))(response, socket, request);
  });
  const hosted = await hostedFor(t, {});
  const ada = await neighbour(hosted, "ada");
  for (let i = 0; i < 40; i++) {
    const action = { name: `a${i}`, method: "POST", url: `${receiver.url}/slow` };
    await ada.post("/shop/actions", action);
  }
  const slow = await ada.post("/shop/webhooks", { url: `${receiver.url}/slow` });
  for (let i = 0; i < 32; i++)
    void hosted
      .call("POST", `/v1/projects/shop/integrations/${slow.id}/test`, { token: ada.key })
      .catch(() => {});
  await took(() => receiver.received.length === 32);
  await ada.post("/shop/webhooks", { url: `${receiver.url}/page` });
  await ada.fire();
  const ms = await took(() => receiver.received.some(({ path }) => path === "/page"));
  assert.ok(ms < 2000, `${Math.round(ms)} ms`);
});

test("tenants that call many unresponsive hosts leave connections for another's page", async (t) => {
  const silent = await silentServer(t);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const hosted = await hostedFor(t, {});
  const busy = [];
  for (let tenant = 0; tenant < 3; tenant++) {
    const place = (n: number) => `http://127.0.${tenant + 1}.${n + 1}:${silent.port}/`;
    const who = await neighbour(hosted, `busy${tenant}`);
    for (let n = 0; n < 64; n++)
      await who.post("/shop/actions", { name: `a${n}`, method: "POST", url: place(n) });
    for (let n = 64; n < 96; n++) await who.post("/shop/webhooks", { url: place(n) });
    busy.push(who);
  }
  const ben = await neighbour(hosted, "ben");
  await ben.post("/shop/webhooks", { url: receiver.url });
  for (const who of busy) await who.fire();
  await took(() => silent.connections() >= 256);
  await ben.fire();
  const ms = await took(() => receiver.received.length > 0);
  assert.ok(ms < 2000, `${Math.round(ms)} ms, ${silent.connections()} connections`);
});

test("one tenant's unresponsive DNS names don't delay another's new name", async (t) => {
  widenThreadPool(process.env);
  const receiver = await startReceiver();
  t.after(() => receiver.close());
  const asked: string[] = [];
  const hosted = await hostedFor(
    t,
    {},
    {
      resolve: async (hostname) => {
        asked.push(hostname);
        if (hostname.startsWith("dead")) await pause(10_000, undefined, { ref: false });
        return [{ address: "127.0.0.1", family: 4 }];
      },
    },
  );
  const [ada, ben] = [await neighbour(hosted, "ada"), await neighbour(hosted, "ben")];
  for (let n = 0; n < 40; n++)
    await ada.post("/shop/webhooks", { url: `http://dead${n}.test:${receiver.port}/` });
  await ben.post("/shop/webhooks", { url: `http://alive.test:${receiver.port}/` });
  await ada.fire();
  await took(() => asked.length >= 6);
  await ben.fire();
  const ms = await took(() => receiver.received.length > 0);
  assert.ok(ms < 2000, `${Math.round(ms)} ms`);
});

test("sixteen stalled bodies of one tenant block no other's event; the oldest of them is dropped", async (t) => {
  const hosted = await hostedFor(t, {}, { limits: { bodyBytes: 16 * 70_000 } });
  const [ada, ben] = [await neighbour(hosted, "ada"), await neighbour(hosted, "ben")];
  const port = Number(new URL(hosted.url).port);
  const stalled = Array.from({ length: 16 }, () =>
    exchange(port, [ingestHead(ada.token, 70_001) + "x".repeat(70_000)], { patience: 4_000 }),
  );
  const event = JSON.stringify({ message: "y".repeat(50_000) });
  const post = async ({ token }: Neighbour) => {
    const parts = inPieces(ingestHead(token, event.length) + event, 3);
    const { answers } = await exchange(port, parts, { enough: 1 });
    return answers[0]?.status;
  };
  // All of them have arrived when her own next event is refused.
  for (let i = 0; i < 40 && (await post(ada)) !== 429; i++) await pause(10);
  assert.equal(await post(ben), 202);
  assert.equal(await post(ben), 202);
  const ends = (await Promise.all(stalled)).map(({ answers }) => answers[0]?.status);
  assert.deepEqual([ends.filter((status) => status === 429).length, ends[0]], [1, 429]);
});
