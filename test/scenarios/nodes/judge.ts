import assert from "node:assert/strict";
import { type Excuse, excusedRings, type Ring } from "./rings.ts";
import type { Story } from "./story.ts";

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
  // It is the node that pushed first that must have died, or stood still, before it was noted.
  const excused = excusedRings(times, excuses, (node, { by }) => node === by);
  const took = pages.map(({ firstAt, answeredAt }) => (answeredAt ?? Infinity) - firstAt);
  return {
    pages: pages.length,
    beats: beats.filter(({ status }) => status === 200).length,
    pushes: pushed.length,
    excused,
    worst: Math.round(Math.max(...took)),
  };
}
