import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ServiceError } from "../../src/ground/kit/errors.ts";
import { silentLog } from "../../src/ground/kit/log.ts";
import { systemRandom } from "../../src/ground/kit/random.ts";
import { openSqliteRegistry } from "../../src/hosted/registry/sqlite/registry.ts";
import type { TenantPlaces } from "../../src/hosted/tenant-places.ts";
import { TenantRegistry } from "../../src/hosted/tenant-registry.ts";
import type { Tenant } from "../../src/tenant/tenant.ts";
import { type HandClock, handClock } from "../support/clock.ts";
import { plainSealer } from "../support/hosted.ts";
import { scratch } from "../support/scratch.ts";

/** Tenants of which one takes long to open, as while its large store is upgraded. */

async function withSlow(t: TestContext) {
  const clock = handClock();
  const path = join(scratch(t), "hosted.db");
  const random = systemRandom;
  const registry = openSqliteRegistry({ path, clock, random, sealer: () => plainSealer });
  t.after(() => registry.close());
  const { id: slow } = await registry.tenants.add({ kind: "hosted" });
  const { id: quick } = await registry.tenants.add({ kind: "hosted" });
  const opening = Promise.withResolvers<Tenant>();
  const asked: string[] = [];
  const places: TenantPlaces = {
    mustBeFree: async () => {},
    stamp: async () => "",
    async *changed() {},
    start(id) {
      asked.push(id);
      if (id === slow) return opening.promise;
      return Promise.reject(new Error("no store lies there"));
    },
    rest: async () => {},
    takeLeft: async () => {},
    giveBack: async () => {},
    hasUnknown: async () => false,
  };
  const limits = { mostOpen: 10, warmMs: 1 };
  const tenants = new TenantRegistry({ registry, clock, log: silentLog, limits, places });
  return { clock, registry, tenants, slow, quick, opening, asked };
}

/** What comes of it within so much time; undefined where nothing does. */
async function within<T>(clock: HandClock, ms: number, work: Promise<T>): Promise<T | undefined> {
  const seen: { value?: T } = {};
  work.then(
    (value) => void Object.assign(seen, { value }),
    (value) => void Object.assign(seen, { value }),
  );
  for (let left = ms; left > 0 && !("value" in seen); left -= 500) {
    await clock.turn(500);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  return seen.value;
}

test("a due tenant doesn't wait until another one is opened", async (t) => {
  const { clock, registry, tenants, slow, quick, opening, asked } = await withSlow(t);
  await registry.tenants.setNextDue(slow, clock.now());
  assert.equal(await within(clock, 8_000, tenants.look()), false, "it is looked at again");
  assert.deepEqual(asked, [slow]);
  await registry.tenants.setNextDue(quick, clock.now());
  await within(clock, 8_000, tenants.look());
  assert.deepEqual(asked, [slow, quick]);
  // A new link may be the slow one's.
  const unknown = tenants.findLinked("reportLinks", "no such link");
  await assert.rejects(unknown, /just started/);
  opening.reject(new Error("it can't be opened"));
  await within(clock, 1_000, Promise.resolve());
  await within(clock, 8_000, tenants.look());
  assert.deepEqual(asked, [slow, quick], "a minute later, not at once");
});

test("a service that stops waits some seconds for a tenant that is opened", async (t) => {
  const { clock, registry, tenants, slow } = await withSlow(t);
  await registry.tenants.setNextDue(slow, clock.now());
  const [look, asked] = [tenants.look(), tenants.find(slow) as Promise<unknown>];
  await within(clock, 500, look);
  tenants.wake();
  const refused = await within(clock, 3_000, asked);
  assert.ok(refused instanceof ServiceError, String(refused));
  assert.equal(await within(clock, 500, look), false);
  assert.equal(
    await within(
      clock,
      3_000,
      tenants.stop().then(() => "stopped"),
    ),
    "stopped",
  );
  const due = await registry.tenants.due(clock.now(), 10);
  assert.deepEqual(due, [slow], "the next process opens it at once");
});
