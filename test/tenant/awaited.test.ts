import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { testBox } from "../support/box.ts";
import { answer, startReceiver } from "../support/receiver.ts";
import { until } from "../support/until.ts";

/** How long a box that ends gives what is under way, and what the relay hears, alone or where another machine waits. */
async function ended(t: TestContext, isAwaited: boolean) {
  const relay = await startReceiver();
  t.after(() => relay.close());
  relay.always(answer(200, { relayed: false, devices: 0 }));
  const box = await testBox();
  await box.api("PUT", "/v1/relay", { relay_url: relay.url, relay_secret: "s".repeat(43) });
  await box.clock.turn(10);
  await until(() => relay.received.length > 0, "the relay hears the box");
  const { tenant } = box;
  const [stop, stopOutbox] = [tenant.stop, tenant.outbox.stop];
  const hurried: boolean[] = [];
  tenant.outbox.stop = (isHurried) => {
    hurried.push(isHurried);
    return stopOutbox(isHurried);
  };
  tenant.stop = () => stop(isAwaited);
  await box.stop();
  const said = relay.received.map(({ body }) => JSON.parse(body).event);
  return { hurried, isGoodbye: said.includes("box.goodbye") };
}

test("a box alone says goodbye, and gives what is under way three seconds", async (t) => {
  assert.deepEqual(await ended(t, false), { hurried: [false], isGoodbye: true });
});

test("where another machine waits it is one, and no goodbye is said: the box goes on", async (t) => {
  assert.deepEqual(await ended(t, true), { hurried: [true], isGoodbye: false });
});
