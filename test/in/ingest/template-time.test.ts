import assert from "node:assert/strict";
import { test } from "node:test";
import { Namer } from "../../../src/in/ingest/template/naming/general.ts";
import { Shaper } from "../../../src/in/ingest/template/reading/shape.ts";

const shaper = new Shaper();
const namer = new Namer();

/** Texts that make a rule look far ahead or back, again and again. */
const UNITS = [
  ...'user orders |topic: orders |a=b |(a=b c=d |=x k=v |"orders": |[a, b] |[a,|(a) (|<a> |<a|orders-api |a-|a.|a/|a:|a_|A|aB|\'|"|`|{"a":|=|for x from |no orders for |1 file |\\n|a@|x '.split(
    "|",
  ),
  ..."shop.orders.Order |price of shop.stock |tasks of ImportJob |stream ORDERS is |the PutObject operation |web.service - |Started OrdersApp |snapshot orders is |arn:aws:|ended by TERM(15) |0x1f-|2024-01-02T|10.0.0.1:80:|eyJhbGci.|node-3 node-4 |role Billing |(path=a/b pkg=c) ".split(
    "|",
  ),
];

/** Processor time of this thread in µs: what else the machine does counts little. */
function cost(work: () => void): number {
  const start = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(start);
  return user + system;
}

/** Of texts of so many characters, as many as make a hundred and fifty thousand together. */
function costOf(unit: string, size: number, read: (text: string) => unknown): number {
  const text = unit.repeat(Math.ceil(size / unit.length)).slice(0, size);
  return cost(() => {
    for (let i = 0; i < 150_000 / size; i++) read(text);
  });
}

test("a text that is eight times as long costs no more for each character, whatever it repeats", () => {
  // Eight times as much, where each character is looked at for each other one.
  const most = 4;
  for (const unit of UNITS) {
    for (const [name, read, sizes] of [
      ["shape", (text: string) => shaper.shapeOf(text), [500, 4_000]],
      ["names", (text: string) => namer.generalOf(text), [500, 4_000]],
    ] as const) {
      const look = () => {
        const [short, long] = sizes.map((size) => costOf(unit, size, read)) as [number, number];
        // The clock of the processor goes in steps of some milliseconds.
        return { short, long, isWell: long <= most * Math.max(short, 8_000) };
      };
      const first = look();
      const { short, long, isWell } = first.isWell ? first : look();
      assert.ok(isWell, `${name} of ${unit}: ${long} µs after ${short}, the second time`);
    }
  }
});
