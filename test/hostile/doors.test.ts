import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { adapters } from "../../src/in/adapters/list.ts";
import { seed } from "../support/seed.ts";
import { seeded } from "../support/seeded.ts";
import { type DearBody, dearBodies, packed } from "./bodies.ts";
import { type Door, doorsOf, type Struck, struckBox } from "./hour.ts";

/** A short form of doors.deep.ts: some bodies of each kind, others in each run. */

let box: Struck;
let doors: Door[];
before(async () => {
  box = await struckBox();
  doors = await doorsOf(box);
});
after(() => box.stop());

const MIB = 1024 * 1024;
const random = seeded(seed);
const oneOf = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
/** What is read at once, twice, and what a thread reads. */
const SIZES = [30_000, 30_000, MIB];

for (const { kind } of adapters)
  test(`${kind}: bodies made to be dear neither hold up the loop nor take the memory`, async () => {
    const door = oneOf(doors.filter((one) => one.kind === kind));
    for (const bytes of SIZES.map((size) => Math.min(size, door.most.inflated - 100))) {
      const { what, make, type } = oneOf([...dearBodies(door.sample, bytes)]);
      const strike = () => door.send(make(), { type, encoding: "identity" });
      await box.blow({ what: `${kind}, ${bytes} bytes: ${what} (seed ${seed})`, strike });
    }
  });

test("hook: a form of two million pairs doesn't take the memory", async () => {
  const door = doors.find(({ kind }) => kind === "hook");
  assert.ok(door !== undefined);
  const type = "application/x-www-form-urlencoded";
  const body = packed(Buffer.from("a=1&".repeat(2_000_000)), "gzip");
  const said: number[] = [];
  const strike = async () => said.push(await door.send(body, { type, encoding: "gzip" }));
  await box.blow({ what: "a=1&a=1&…", strike });
  assert.deepEqual([...new Set(said)], [200]);
});

/** 31 MiB that compress so well as the doors let through. */
function wide(open: string): Buffer {
  const text = `${open}${"{},".repeat((31 * MIB) / 3)}{}]`;
  const noise = Array.from({ length: 170_000 }, () => " \n\t\r"[Math.floor(random() * 4)]).join("");
  return gzipSync(text + noise);
}

for (const [kind, open, type] of [
  ["sentry", "[", "application/x-sentry-envelope"],
  ["otlp", "[", "application/json"],
  ["loki", '{"streams":[', "application/json"],
] as const)
  test(`${kind}: ten million empty objects in a short request are refused, and the loop goes on`, async () => {
    const door = doors.find((one) => one.kind === kind);
    assert.ok(door !== undefined);
    const said: number[] = [];
    const strike = async () => said.push(await door.send(wide(open), { type, encoding: "gzip" }));
    await box.blow({ what: "{},{},…", strike });
    assert.deepEqual([...new Set(said)], [413]);
  });

test("otlp: 30 MB of text, one body after the other, take the memory of one", async () => {
  const door = doors.find(
    ({ kind, sample }) => kind === "otlp" && `${sample.body}`.startsWith("{"),
  );
  assert.ok(door !== undefined);
  const bytes = 30 * MIB;
  for (const wanted of ["a text of JSON", "a long text", "numbers", "a text of escapes"]) {
    const what = `${wanted} at /resourceLogs`;
    const dear: DearBody | undefined = [...dearBodies(door.sample, bytes)].find(
      (one) => one.what === what,
    );
    assert.ok(dear !== undefined, wanted);
    const body = packed(dear.make(), "gzip");
    const strike = () => door.send(body, { type: "application/json", encoding: "gzip" });
    await box.blow({ what: `30 MB: ${what}`, strike });
  }
});
