import assert from "node:assert/strict";
import type { Node } from "./node.ts";
import type { Story } from "./story.ts";

/** A time, by performance.now(), in which a page may have been pushed and the note of it lost. */
export interface Excuse {
  from: number;
  until: number;
  /** The node that it fell on; null: the database, which is everybody's. */
  node: Node | null;
}

export interface Judged {
  pages: number;
  /** That were answered. */
  beats: number;
  pushes: number;
  /** Pushes made twice, each over a blow that excuses it. */
  excused: number;
  /** From the first try of a page to its answer, milliseconds. */
  worst: number;
}

/** Every page that was answered was pushed, and none twice but over an excuse; throws where that isn't so. */
export function judge(
  { apns, nodes, boxes: { pages, beats } }: Story,
  excuses: readonly Excuse[],
): Judged {
  const pushed = apns.received.filter(({ status }) => status === 200);
  const times = new Map<string, Ring[]>();
  for (const { token, body, at, connection } of pushed) {
    const key = `${token} ${String(body["alert_id"])}`;
    times.set(key, [
      ...(times.get(key) ?? []),
      { at, by: nodes.find((node) => node === connection) },
    ]);
  }
  const lost = pages.filter(({ device, alert }) => !times.has(`${device} ${alert}`));
  assert.deepEqual(
    lost.map(({ alert }) => alert),
    [],
    "every page that was answered was pushed",
  );
  const unreached = pages.filter(({ devices }) => devices !== 1);
  assert.deepEqual(
    unreached.map(({ alert }) => alert),
    [],
    "each answer counts the phone that rang",
  );
  let excused = 0;
  for (const [key, all] of times)
    for (const [i, ring] of all.entries()) {
      const before = all[i - 1];
      if (before === undefined) continue;
      assert.ok(isExcused(before, ring, excuses), twice(key, [before, ring], excuses));
      excused++;
    }
  const took = pages.map(({ firstAt, answeredAt }) => (answeredAt ?? Infinity) - firstAt);
  return {
    pages: pages.length,
    beats: beats.filter(({ status }) => status === 200).length,
    pushes: pushed.length,
    excused,
    worst: Math.round(Math.max(...took)),
  };
}

/** One push of a page. */
interface Ring {
  at: number;
  /** The node that made it; undefined: one that was killed before its connection was looked at. */
  by: Node | undefined;
}

/** It is the node that pushed first that must have died, or stood still, before it was noted. */
function isExcused(before: Ring, { at }: Ring, excuses: readonly Excuse[]): boolean {
  const isTheirs = (node: Node | null) =>
    node === null || before.by === undefined || node === before.by;
  return excuses.some(
    ({ from, until, node }) => from <= at && until >= before.at && isTheirs(node),
  );
}

/** How it came that a page rang twice, for whoever looks for the reason: by whom, and what fell about then. */
function twice(key: string, [before, ring]: [Ring, Ring], excuses: readonly Excuse[]): string {
  const ms = (at: number) => Math.round(at - before.at);
  const near = excuses
    .filter(({ from, until }) => until > before.at - 20_000 && from < ring.at + 20_000)
    .map(({ from, until, node }) => `${node?.name ?? "database"} ${ms(from)} to ${ms(until)}`);
  const who = `by ${before.by?.name ?? "?"} and ${ms(ring.at)} ms later by ${ring.by?.name ?? "?"}`;
  return `${key} rang twice, ${who}, for nothing; blows, ms from the first: ${near.join(", ")}`;
}
