import assert from "node:assert/strict";
import { once } from "node:events";
import { afterEach, test } from "node:test";
import { createEgress, type EgressOptions } from "../../../src/ground/kit/egress.ts";
import { createNames, type Resolve } from "../../../src/ground/kit/names.ts";
import { handClock } from "../../support/clock.ts";
import { startSocketServer } from "../../support/receiver.ts";

const undo: (() => Promise<unknown>)[] = [];
afterEach(() => Promise.all(undo.splice(0).map((each) => each())));

async function scene(resolve: Resolve, options: Partial<EgressOptions> = {}) {
  let connections = 0;
  const server = await startSocketServer((socket) => {
    connections++;
    // As slow as can be: a byte for each that comes.
    socket.on("data", () => socket.write("x"));
  });
  const clock = handClock();
  const names = createNames({ clock, resolve });
  const egress = createEgress({ clock, rules: { role: "box" }, names, ...options });
  undo.push(
    () => egress.close(),
    () => server.close(),
  );
  return { clock, egress, port: server.port, count: () => connections };
}

const loopback: Resolve = async () => [{ address: "127.0.0.1", family: 4 }];
const lifeMs = 30_000;
const fault = (egressError: string) => ({ name: "EgressFault", egressError });

test("a connection to a vetted address; its life has an end, whatever the other side does", async () => {
  const { clock, egress, port } = await scene(loopback);
  const { socket, ca } = await egress.dial({ host: "mail.test", port, lifeMs });
  assert.equal(ca, undefined);
  socket.write("a");
  await once(socket, "data");
  const closed = once(socket, "close");
  await clock.turn(lifeMs);
  await closed;
});

test("no spelling of an address that may not be called is called", async () => {
  const found = { "a.test": "169.254.169.254", "b.test": "0.0.0.0", "c.test": "224.0.0.1" };
  const { egress, port, count } = await scene(async (host) => [
    { address: found[host as keyof typeof found] ?? "169.254.169.254", family: 4 },
  ]);
  const literals = ["169.254.169.254", "::ffff:a9fe:a9fe", "64:ff9b::a9fe:a9fe", "::", "fe80::1"];
  for (const host of [...Object.keys(found), ...literals, "2852039166"])
    await assert.rejects(egress.dial({ host, port, lifeMs }), fault("address_refused"), host);
  assert.equal(count(), 0);
});

test("the hosted role's client calls no loopback, and that for strangers' calls nothing but https", async () => {
  const hosted = await scene(loopback, { rules: { role: "hosted" } });
  const to = { port: hosted.port, lifeMs };
  for (const host of ["127.0.0.1", "mail.test"])
    await assert.rejects(hosted.egress.dial({ ...to, host }), fault("address_refused"));
  const strangers = await scene(loopback, { publicHttpsOnly: true });
  await assert.rejects(strangers.egress.dial({ ...to, host: "x.test" }), fault("https_required"));
  assert.equal(hosted.count() + strangers.count(), 0);
});

test("a name that isn't there and one that never answers are told apart", async () => {
  const { clock, egress, port } = await scene((host) =>
    host === "none.test"
      ? Promise.reject(Object.assign(new Error(), { code: "ENOTFOUND" }))
      : new Promise(() => {}),
  );
  await assert.rejects(egress.dial({ host: "none.test", port, lifeMs }), fault("dns"));
  const late = assert.rejects(
    egress.dial({ host: "slow.test", port, lifeMs }),
    fault("timeout_connect"),
  );
  await clock.turn(5_000);
  await late;
  const asked = egress.dial({ host: "slow.test", port, lifeMs, connectMs: 1_000 });
  const sooner = assert.rejects(asked, fault("timeout_connect"));
  await clock.turn(1_000);
  await sooner;
});

test("a client that closes ends its connections and opens no more", async () => {
  const { egress, port } = await scene(loopback);
  const { socket } = await egress.share().dial({ host: "mail.test", port, lifeMs });
  const closed = once(socket, "close");
  await egress.close();
  await closed;
  await assert.rejects(egress.dial({ host: "mail.test", port, lifeMs }), fault("stopped"));
});
