import assert from "node:assert/strict";
import type { Node } from "./node.ts";

/** A time, by performance.now(), in which a page may have been sent and the note of it lost. */
export interface Excuse {
  from: number;
  until: number;
  /** The node that it fell on; null: the database, which is everybody's. */
  node: Node | null;
}

/** A taking of a tenant, as the database saw it. */
export interface Taking {
  at: number;
  tenant: string;
  /** Names of nodes. */
  by: string;
  from: string;
  /** The one before had left it. */
  wasLeft: boolean;
  /** When that one would die that says nothing more. */
  aliveUntil: number;
  /** What that one said of its loss; null: nothing, as one that was ended. */
  said: string | null;
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

/** What is known of the time in which pages rang. */
export interface Known {
  fallen: readonly Fallen[];
  takings: readonly Taking[];
}
const none: Known = { fallen: [], takings: [] };

/**
 * Whether a node lived, and couldn't say so for so long that it lost the tenant: what it had sent last wasn't noted. The
 * database had heard nothing of it, and the node says itself that it has lost it.
 */
export const wasLate = ({ by, from, wasLeft, aliveUntil, at, said }: Taking): boolean =>
  !wasLeft && (aliveUntil <= at || by === from) && said !== null;

/** How many pages rang once more over a blow; throws where one did for nothing. `all`: each page's, by its name. */
export function excusedRings(
  all: ReadonlyMap<string, readonly Ring[]>,
  excuses: readonly Excuse[],
  isTheirs: (node: Node, before: Ring, ring: Ring) => boolean,
  { fallen, takings }: Known = none,
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
      const isOver = takings.some(
        (taking) =>
          taking.at >= before.at &&
          taking.at <= ring.at &&
          wasLate(taking) &&
          (before.by === undefined || before.by.name === taking.from),
      );
      assert.ok(isExcused || isOver, twice(page, [before, ring], { fallen, takings }));
      excused++;
    }
  return excused;
}

/** How it came that a page rang twice, for whoever looks for the reason: by whom, and what happened about then. */
function twice(page: string, [before, ring]: [Ring, Ring], { fallen, takings }: Known): string {
  const ms = (at: number) => Math.round(at - before.at);
  const isNear = (from: number, until: number) =>
    until > before.at - 30_000 && from < ring.at + 20_000;
  const blows = fallen
    .filter(({ from, until }) => isNear(from, until))
    .map(
      ({ blow, from, until, node }) =>
        `${blow} on ${node?.name ?? "all"} ${ms(from)} to ${ms(until)}`,
    );
  const taken = takings
    .filter(({ at }) => isNear(at, at))
    .map(
      ({ by, from, at, wasLeft, aliveUntil, said }) =>
        `by ${by} at ${ms(at)} from ${from}, which ${wasLeft ? "had left" : `lived until ${ms(aliveUntil)}`} and said ${said ?? "nothing"}`,
    );
  const who = `by ${before.by?.name ?? "?"} and ${ms(ring.at)} ms later by ${ring.by?.name ?? "?"}`;
  return `${page} rang twice, ${who}, for nothing; ms from the first: blows ${blows.join(", ")}; takings ${taken.join(", ")}`;
}
