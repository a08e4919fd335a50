import assert from "node:assert/strict";
import { test } from "node:test";
import { parseArgs } from "node:util";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { dearBodies, packed } from "./bodies.ts";
import { doorsOf, struckBox } from "./hour.ts";

/** `node test/hostile/doors.deep.ts --minutes 60` is the hostile hour: among the deep tests it takes five minutes. */
const { values } = parseArgs({ options: { minutes: { type: "string" } }, strict: false });
const minutes = Number(values.minutes ?? 5);

const SHORT = 30_000;
const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

test(`${minutes} min of bodies made to be dear, at each door`, async (t) => {
  const box = await struckBox();
  const faults: Error[] = [];
  let blows = 0;
  try {
    const doors = await doorsOf(box);
    const end = performance.now() + minutes * 60_000;
    for (; performance.now() < end; blows++) {
      const door = doors[blows % doors.length] ?? oneOf(doors);
      const { sent, inflated } = door.most;
      const bytes = oneOf([SHORT, SHORT, sent - 100, Math.floor(inflated * 0.96)]);
      const { what, make, type } = oneOf([...dearBodies(door.sample, bytes)]);
      const encoding = bytes > sent ? oneOf(["gzip", "zstd"] as const) : "identity";
      const body = packed(make(), encoding);
      const name = `${door.kind}${door.sample.path}, ${bytes} bytes: ${what}`;
      const strike = () => door.send(body, { type, encoding });
      await box.blow({ what: name, strike }).catch((error) => faults.push(error));
    }
    t.diagnostic(`${blows} requests, seed ${seed}`);
    for (const line of box.worst()) t.diagnostic(line);
  } finally {
    await box.stop();
  }
  assert.deepEqual(faults.map(String), []);
});
