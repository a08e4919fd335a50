import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { recordPlaces } from "../../../src/app/hosted-records.ts";
import { systemClock } from "../../../src/ground/kit/clock.ts";
import { silentLog } from "../../../src/ground/kit/log.ts";
import { systemRandom } from "../../../src/ground/kit/random.ts";
import { databaseSettings } from "../../../src/hosted/registry/postgres/settings.ts";
import { postgresTest, testDatabase } from "../../support/postgres.ts";
import { startReceiver } from "../../support/receiver.ts";
import { scratch } from "../../support/scratch.ts";
import { nodesOf, shop } from "./tenant-nodes.ts";

postgresTest(
  "a node that ends gives back a tenant that was asked for again meanwhile",
  async (t) => {
    const made = await testDatabase(t);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    const one = await nodesOf(t, made)("one");
    const { tenant } = await shop(one, receiver);
    await one.stop();

    const data = scratch(t);
    mkdirSync(join(data, "tenants"));
    const settings = databaseSettings({ database: made.url }, []);
    assert.ok(settings);
    const begun = Promise.withResolvers<void>();
    const { places, close } = recordPlaces(
      {
        data,
        settings,
        node: "two",
        address: null,
        start: () => assert.fail("its upgrade isn't over"),
        memberships: { put: () => assert.fail("nobody was added") },
        upgrade() {
          begun.resolve();
          return new Promise(() => {});
        },
      },
      { clock: systemClock, random: systemRandom, log: silentLog, onFatal: assert.ifError },
    );
    t.after(close);
    const start = () => places.start(tenant, { atClose() {}, onFatal() {}, onLost() {} });
    let isOver = false;
    const first = assert.rejects(start(), { code: "not_ready" }).finally(() => {
      isOver = true;
    });
    await begun.promise;
    await assert.rejects(start(), { code: "not_ready" });
    await places.giveBack();
    await new Promise(setImmediate);
    assert.ok(isOver, "it was waited for");
    const sql = `SELECT node, clean, alive_until > clock_timestamp() AS "isAlive" FROM tenant_stores
    WHERE tenant_id = $1`;
    const found = await made.open().query<object>(sql, [tenant]);
    assert.deepEqual(found, [{ node: "two", clean: true, isAlive: false }]);
    await first;
  },
);
