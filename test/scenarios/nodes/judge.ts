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
  { apns, pushers, boxes: { pages, beats } }: Story,
  excuses: readonly Excuse[],
): Judged {
  const pushed = apns.received.filter(({ status }) => status === 200);
  const times = new Map<string, { at: number; by: Node | undefined }[]>();
  for (const { token, body, at, port } of pushed) {
    const key = `${token} ${String(body["alert_id"])}`;
    times.set(key, [...(times.get(key) ?? []), { at, by: pushers.get(port) }]);
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
    for (const [i, { at }] of all.entries()) {
      const before = all[i - 1];
      if (before === undefined) continue;
      // It is the node that pushed first that must have died, or stood still, before it was noted.
      const isExcused = excuses.some(
        ({ from, until, node }) =>
          from <= at && until >= before.at && (node === null || node === before.by),
      );
      const apart = Math.round(at - before.at);
      assert.ok(isExcused, `${key} rang twice, ${apart} ms apart, for nothing`);
      excused++;
    }
  const took = pages.map(({ firstAt, answeredAt }) => (answeredAt ?? Infinity) - firstAt);
  return {
    ...{ pages: pages.length, beats: beats.filter(({ status }) => status === 200).length },
    ...{ pushes: pushed.length, excused, worst: Math.round(Math.max(...took)) },
  };
}
