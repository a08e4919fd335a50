import assert from "node:assert/strict";
import { test } from "node:test";
import { createInTurn } from "../../../src/ground/kit/in-turn.ts";
import fc from "../../support/property.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Who has a turn, in the order of their turns: each ends when the next may begin. */
async function orderOf(asking: readonly string[]): Promise<string[]> {
  const inTurn = createInTurn();
  const order: string[] = [];
  let busy = 0;
  const all = asking.map(async (owner) => {
    const end = await inTurn(owner);
    assert.equal(++busy, 1, "one at a time");
    order.push(owner);
    await settled();
    busy -= 1;
    end();
    // A second time is nobody's turn.
    end();
  });
  await Promise.all(all);
  return order;
}

test("who asks often waits behind their own, and others come between", async () => {
  assert.deepEqual(await orderOf([..."aaaab"]), [..."aabaa"]);
  assert.deepEqual(await orderOf([..."aaabbc"]), [..."aabcab"]);
});

test("everyone has all their turns, one at a time, and no owner two while another waits", async () => {
  const owners = fc.array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(owners, async (asking) => {
      const order = await orderOf(asking);
      assert.deepEqual([...order].sort(), [...asking].sort());
      // The first began before anybody else had asked.
      for (let i = 2; i < order.length; i++)
        if (order[i] === order[i - 1])
          assert.deepEqual(new Set(order.slice(i)), new Set([order[i]]), `${order}`);
    }),
    { numRuns: 50 },
  );
});

test("whoever asks when nobody waits has it at once, also after a pause", async () => {
  const inTurn = createInTurn();
  for (const owner of ["a", "b", "a"]) (await inTurn(owner))();
});
