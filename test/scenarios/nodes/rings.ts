import assert from "node:assert/strict";
import type { Node } from "./node.ts";

/** A time, by performance.now(), in which a page may have been sent and the note of it lost. */
export interface Excuse {
  from: number;
  until: number;
  /** The node that it fell on; null: the database, which is everybody's. */
  node: Node | null;
}

/** What happened to a node or to the database, whether it excuses anything or not. */
export interface Fallen extends Excuse {
  blow: string;
}

/** One time that a page was sent. */
export interface Ring {
  at: number;
  /** The node that sent it; undefined: one that was killed before its connection was looked at. */
  by: Node | undefined;
}

/** How many pages rang once more over a blow; throws where one did for nothing. `all`: each page's, by its name. */
export function excusedRings(
  all: ReadonlyMap<string, readonly Ring[]>,
  excuses: readonly Excuse[],
  isTheirs: (node: Node, before: Ring, ring: Ring) => boolean,
  fallen: readonly Fallen[] = [],
): number {
  let excused = 0;
  for (const [page, rings] of all)
    for (const [i, ring] of rings.entries()) {
      const before = rings[i - 1];
      if (before === undefined) continue;
      const isExcused = excuses.some(
        ({ from, until, node }) =>
          from <= ring.at &&
          until >= before.at &&
          (node === null || before.by === undefined || isTheirs(node, before, ring)),
      );
      assert.ok(isExcused, twice(page, [before, ring], fallen));
      excused++;
    }
  return excused;
}

/** How it came that a page rang twice, for whoever looks for the reason: by whom, and what fell about then. */
function twice(page: string, [before, ring]: [Ring, Ring], fallen: readonly Fallen[]): string {
  const ms = (at: number) => Math.round(at - before.at);
  const near = fallen
    .filter(({ from, until }) => until > before.at - 30_000 && from < ring.at + 20_000)
    .map(
      ({ blow, from, until, node }) =>
        `${blow} on ${node?.name ?? "all"} ${ms(from)} to ${ms(until)}`,
    );
  const who = `by ${before.by?.name ?? "?"} and ${ms(ring.at)} ms later by ${ring.by?.name ?? "?"}`;
  return `${page} rang twice, ${who}, for nothing; blows, ms from the first: ${near.join(", ")}`;
}
