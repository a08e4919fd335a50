import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import type { BoxFlags } from "../../src/app/config.ts";
import { atDesk } from "../../src/app/offline/desk.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { type FakeApns, startFakeApns } from "./apns.ts";
import { type TestBox, testBox } from "./box.ts";
import { type HandClock, handClock } from "./clock.ts";
import { ask, type HostedPerson, type TestHosted, testHosted, useApns } from "./hosted-role.ts";

/** Somebody with an account at a box, one at the hosted service, and a phone. */
export interface PagedPerson extends HostedPerson {
  boxAccountId: string;
  /** Of the box. */
  key: string;
  /** 64 hex characters. */
  device: string;
}

/** A box, the hosted role that it pages through, and the push provider behind that, on one clock. */
export interface RelayStory {
  clock: HandClock;
  box: TestBox;
  hosted: TestHosted;
  apns: FakeApns;
  /** The hosted tenant id of the box, and its relay credential. */
  tenantId: string;
  relay: { relay_key_id: string; relay_secret: string; relay_url: string };
  /** Who paired first. */
  ada: PagedPerson;
  /** Pairs one more person, with a receipt of the box. */
  join(name: string): Promise<PagedPerson>;
  /** Writes the relay credential into the box. */
  putRelay(relay?: { relay_url: string; relay_secret: string }): Promise<void>;
  /** Lets everything that is due happen, while time stands still. */
  settle(): Promise<void>;
  /** Turns the clock on, a step at a time, letting what each step sets going come to its end. */
  pass(seconds: number, step?: number): Promise<void>;
  /** Waits for `work` that waits for the clock. */
  through(work: Promise<void>): Promise<void>;
  /** What the phones showed since the last call, as `device name: title`. */
  shown(): string[];
  close(): Promise<void>;
}

export async function relayStory(
  clock: HandClock = handClock(),
  flags: BoxFlags = {},
): Promise<RelayStory> {
  const apns = await startFakeApns();
  const hosted = await testHosted({ lab: true }, clock);
  await useApns(hosted, apns);
  const box = await testBox(flags, clock);
  const names = new Map<string, string>();
  let looked = 0;
  const tenantId = await hosted.desk(
    async (desk) => (await desk.addTenant({ kind: "box" })).tenant_id,
  );

  /** A seat at the box, an account with a session and a phone at the hosted service. */
  const arrive = async (name: string) => {
    const email = `${name}@example.com`;
    const seat = await atDesk({ data: box.data, clock, random: systemRandom }, "pair-code", {
      email,
      role: names.size === 0 ? "owner" : "member",
    });
    const paired = await ask(`${box.url}/v1/pair`, {
      method: "POST",
      body: JSON.stringify({ code: seat.code, password: `${name}-password`, display_name: name }),
    });
    assert.equal(paired.status, 200, JSON.stringify(paired.body));
    const who = await hosted.person(email);
    const device = Buffer.from(name.padEnd(32, ".")).toString("hex");
    names.set(device, name);
    const registered = await hosted.call("POST", "/v1/account/devices", {
      token: who.token,
      body: { token: device, platform: "ios" },
    });
    assert.equal(registered.status, 200);
    const { box_account_id: boxAccountId, api_key: key, receipt } = paired.body;
    const answer = await hosted.call("POST", `/v1/tenants/${tenantId}/pair`, {
      token: who.token,
      body: { box_account_id: boxAccountId, receipt },
    });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return { person: { ...who, boxAccountId, key, device }, relay: answer.body.relay };
  };

  const first = await arrive("ada");
  const { relay } = first;

  const isBusy = () => {
    const { outbox, scheduler } = box.tenant;
    const { deliveries, executions } = outbox;
    const running = scheduler.running + hosted.role.scheduler.running;
    return deliveries.inFlight + executions.inFlight + running > 0;
  };
  const settle = async () => {
    for (let calm = 0; calm < 3; ) {
      await clock.turn(0);
      if (isBusy()) calm = 0;
      else calm++;
      while (isBusy()) await pause(1);
    }
  };

  const story: RelayStory = {
    clock,
    box,
    hosted,
    apns,
    tenantId,
    relay,
    ada: first.person,
    join: async (name) => (await arrive(name)).person,
    async putRelay(given = relay) {
      const { relay_url, relay_secret } = given;
      const put = await box.api("PUT", "/v1/relay", {
        relay_url,
        relay_secret,
        hosted_tenant_id: tenantId,
        box_public_url: box.url,
      });
      assert.deepEqual([put.status, put.body], [200, { relay_url }]);
    },
    settle,
    async pass(seconds, step = 1) {
      for (let left = seconds; left > 0; left -= step) {
        await clock.turn(Math.min(step, left) * 1000);
        await settle();
      }
    },
    async through(work) {
      let over = false;
      const done = work.finally(() => {
        over = true;
      });
      while (!over) {
        await clock.turn(100);
        await pause(1);
      }
      await done;
    },
    shown() {
      const pushes = apns.received.slice(looked).filter(({ status }) => status === 200);
      looked = apns.received.length;
      return pushes.map(({ token, body }) => `${names.get(token)}: ${body.aps.alert.title}`);
    },
    async close() {
      await box.stop();
      await hosted.stop();
      await apns.close();
    },
  };
  return story;
}
