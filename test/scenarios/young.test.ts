import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { systemClock } from "../../src/ground/kit/clock.ts";
import { testBox } from "../support/box.ts";
import { settle } from "../support/until.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as (how?: { type: "minor" }) => void;

const ALERTS = 400;
/** What stays of other things, as of the receiver, which is in this process, is 4 kB. */
const MOST_BYTES = 7_500;

/** Keeps its answers back until `open` is called; then resolves once it has given so many. */
async function gatedReceiver() {
  let held: ServerResponse[] | null = [];
  let wanted = 0;
  let done = () => {};
  const give = (response: ServerResponse) => {
    response.writeHead(204).end();
    wanted -= 1;
    if (wanted === 0) done();
  };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => (held === null ? give(response) : void held.push(response)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  after(() => server.close());
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    open(n: number) {
      const { promise, resolve } = Promise.withResolvers<void>();
      [wanted, done] = [n, resolve];
      const waiting = held ?? [];
      held = null;
      for (const response of waiting) give(response);
      return promise;
    },
    shut() {
      held = [];
    },
  };
}

test("what a delivery made is gone with the next small collection", async () => {
  const receiver = await gatedReceiver();
  const box = await testBox({}, systemClock as never);
  after(() => box.stop());
  const token = await box.project("shop");
  await box.api("POST", "/v1/projects/shop/webhooks", { url: receiver.url });
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "each",
    identifier_keys: ["n"],
    max_open: 0,
  });
  let sent = 0;
  const openAlerts = async () => {
    const lines = Array.from({ length: ALERTS }, () =>
      JSON.stringify({ message: "went wrong", level: 400, keys: { n: String(++sent) } }),
    );
    const { status } = await fetch(`${box.url}/v1/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" },
      body: lines.join("\n"),
    });
    assert.equal(status, 202);
  };
  // What is made once is made in the first round.
  await openAlerts();
  await receiver.open(ALERTS);
  receiver.shut();
  await openAlerts();
  // What is in use now is old from here on, and what it leads to would stay.
  gc();
  const before = process.memoryUsage().heapUsed;
  await receiver.open(ALERTS);
  gc({ type: "minor" });
  gc({ type: "minor" });
  const left = (process.memoryUsage().heapUsed - before) / ALERTS;
  assert.ok(left < MOST_BYTES, `${Math.round(left)} bytes of each delivery are left`);
});

test("what an alert made that pages somebody is gone with the next small collection, too", async () => {
  const box = await testBox();
  after(() => box.stop());
  const token = await box.project("shop");
  const step = (after_minutes: number) => ({
    after_minutes,
    accounts: [box.owner.accountId],
    schedules: [],
  });
  await box.api("POST", "/v1/projects/shop/rules", {
    name: "each",
    identifier_keys: ["n"],
    max_open: 0,
    escalations: [step(0), step(10)],
  });
  let sent = 0;
  const openAlerts = async () => {
    const lines = Array.from({ length: ALERTS }, () =>
      JSON.stringify({ message: "went wrong", level: 400, keys: { n: String(++sent) } }),
    );
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/x-ndjson" };
    const body = lines.join("\n");
    await fetch(`${box.url}/v1/ingest`, { method: "POST", headers, body });
    await settle(box);
  };
  // What is made once is made in the first rounds.
  await openAlerts();
  await openAlerts();
  gc();
  await openAlerts();
  gc({ type: "minor" });
  gc({ type: "minor" });
  const young = process.memoryUsage().heapUsed;
  gc();
  const left = (young - process.memoryUsage().heapUsed) / ALERTS;
  assert.ok(left < 2_900, `${Math.round(left)} bytes of each alert wait for a whole collection`);
});
