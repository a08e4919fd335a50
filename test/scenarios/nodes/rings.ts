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

/** What happened to a node, or to the database or the machine, whether it excuses anything or not. */
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
 * database had heard nothing of it, or it took the tenant again itself, and it says that it has lost it.
 */
export const wasLate = ({ by, from, wasLeft, aliveUntil, at, said }: Taking): boolean =>
  !wasLeft && (aliveUntil <= at || by === from) && said !== null;

/** A blow holds a node up while it lasts and ten seconds more; a node lives ten seconds after its latest word. */
const HELD_UP_MS = 20_000;

/** Whether something held up the node that was late. */
const wasHeldUp = ({ from, aliveUntil, at }: Taking, fallen: readonly Fallen[]): boolean =>
  fallen.some(
    (blow) =>
      (blow.node === null || blow.node.name === from) &&
      blow.from <= Math.min(at, aliveUntil) &&
      blow.until >= aliveUntil - HELD_UP_MS,
  );

/**
 * How many pages rang once more over a blow; throws where one did for nothing, or where a node was late for nothing. `all`:
 * each page's, by its name.
 */
export function excusedRings(
  all: ReadonlyMap<string, readonly Ring[]>,
  excuses: readonly Excuse[],
  isTheirs: (node: Node, before: Ring, ring: Ring) => boolean,
  { fallen, takings }: Known = none,
): number {
  let excused = 0;
  const late = takings.filter(wasLate);
  const lost = late.filter((taking) => wasHeldUp(taking, fallen));
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
      const isOver = lost.some(
        ({ at, from }) =>
          at >= before.at && at <= ring.at && (before.by === undefined || before.by.name === from),
      );
      assert.ok(isExcused || isOver, twice(page, [before, ring], { fallen, takings }));
      excused++;
    }
  for (const taking of late)
    assert.ok(
      lost.includes(taking),
      `${taking.from} lost tenant ${taking.tenant}, ${about(taking.at, taking.at, { fallen, takings })}`,
    );
  return excused;
}

/** How it came that a page rang twice, for whoever looks for the reason: by whom, and what happened about then. */
function twice(page: string, [before, ring]: [Ring, Ring], known: Known): string {
  const [one, other] = [before, ring].map(({ by }) => by?.name ?? "?");
  const ms = Math.round(ring.at - before.at);
  return `${page} rang twice, by ${one} and ${ms} ms later by ${other}, ${about(before.at, ring.at, known)}`;
}

function about(first: number, last: number, { fallen, takings }: Known): string {
  const ms = (at: number) => Math.round(at - first);
  const isNear = (from: number, until: number) => until > first - 30_000 && from < last + 20_000;
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
  return `for nothing; ms from then: blows ${blows.join(", ")}; takings ${taken.join(", ")}`;
}
