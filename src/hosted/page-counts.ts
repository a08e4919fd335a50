import type { PageResult } from "./page.ts";

/** `duplicate`: over before the request. `away`: the registry didn't answer. `fault`: an error of this service. */
export type PageEnd = PageResult["kind"] | "duplicate" | "away" | "fault";

/** Counts since the start how the pages that boxes requested ended. */
export type PageCounts = ReturnType<typeof createPageCounts>;

const ENDS: readonly PageEnd[] = [
  "paged",
  "duplicate",
  "in_flight",
  "revoked",
  "late",
  "failed",
  "unavailable",
  "away",
  "fault",
];

export function createPageCounts() {
  const counts = new Map(ENDS.map((end) => [end, { n: 0, ms: 0 }]));
  return {
    add(end: PageEnd, ms: number) {
      const count = counts.get(end);
      if (count === undefined) return;
      count.n++;
      count.ms += ms;
    },
    all: () => [...counts].map(([end, { n, ms }]) => ({ end, n, seconds: ms / 1000 })),
  };
}
