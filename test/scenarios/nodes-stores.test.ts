import assert from "node:assert/strict";
import { test } from "node:test";
import { postgresTest, testDatabase } from "../support/postgres.ts";
import { Node } from "./nodes/node.ts";
import {
  type BoxFaultName,
  boxFaults,
  type StoreFaultName,
  spoiltBox,
  spoiltStores,
  storeFaults,
} from "./nodes/programs.ts";
import { excusedRings, type Fallen, type Ring, type Taking } from "./nodes/rings.ts";
import { nodesStoresStory } from "./nodes-stores.ts";

/** Two nodes with tenants of their own: `node --test test/scenarios/nodes-stores.deep.ts` has every blow, many times. */

postgresTest(
  "a node that is killed, leaves, stands still or is cut off loses no tenant's event",
  async (t) => {
    const { took, ...seen } = await nodesStoresStory(["SIGKILL", "SIGTERM", "cut", "SIGSTOP"], {
      tenants: 3,
      isOrderly: true,
      at: await testDatabase(t),
    });
    t.diagnostic(JSON.stringify({ ...seen, took }));
    assert.ok(seen.late > 0, "what a node says that was cut off excuses what rings again");
  },
);

test("a page that rings twice is told with who took its tenant, and who lost it", () => {
  const [a, b] = ["a", "b"].map((name) => ({ at: 0, by: new Node(name, "", []) }));
  const rings = new Map([["1", [a, { ...b, at: 9_400 }] as Ring[]]]);
  const lost = { at: 9_000, tenant: "t", by: "b", from: "a", wasLeft: false, aliveUntil: 8_900 };
  const cut: Fallen = { blow: "cut", from: 0, until: 5_000, node: a?.by as Node };
  const judged = (change: Partial<Taking>, blow: Partial<Fallen> = {}, of = rings) => {
    const takings = [{ ...lost, said: "given up", ...change }];
    return excusedRings(of, [], () => false, { fallen: [{ ...cut, ...blow }], takings });
  };
  const again = { by: "a", aliveUntil: 12_000 };
  assert.deepEqual([judged({}), judged({}, { node: null }), judged(again)], [1, 1, 1]);
  // Nothing held up the one that was late: whether anything rang twice, it is told.
  const lates: Partial<Fallen>[] = [
    { node: b?.by as Node },
    { from: 9_100 },
    { from: -20_000, until: -12_000 },
  ];
  for (const blow of lates)
    for (const change of [{}, again]) {
      assert.throws(() => judged(change, blow), /rang twice.*blows.*takings by/);
      assert.throws(
        () => judged(change, blow, new Map()),
        /a lost tenant t.*blows cut on.*takings by/,
      );
    }
  const others: Partial<Taking>[] = [
    { wasLeft: true },
    { said: null },
    { aliveUntil: 9_100 },
    { from: "c" },
    { at: -1 },
    { at: 9_500 },
  ];
  for (const change of others)
    assert.throws(() => judged(change), /by a and 9400 ms later by b.*takings by b at -?\d+ from/);
});

postgresTest("what the deep tests plant stands in the program as it is now", async () => {
  for (const fault of Object.keys(storeFaults) as StoreFaultName[]) await spoiltStores(fault);
  for (const fault of Object.keys(boxFaults) as BoxFaultName[]) await spoiltBox(fault);
});
