import type { Ledger, Machine } from "../support/two-machines.ts";

/** What people and senders saw of one blow, from then until the next one. */
export interface Seen {
  blow: string;
  /** To the next page, whoever sent it. */
  next: number;
  /** To the first page that only the machine which took the box can have sent; null: it didn't change hands. */
  taken: number | null;
  pages: number;
  twice: number;
  /** Tries by HTTP that weren't answered 202: how each ended. */
  refused: readonly string[];
  /** The longest that an event had to wait for its 202. */
  waited: number;
  /** Datagrams to the machine that served at the blow, and to the one that stood by, which lived: how many, and what is missing. */
  struck: Missing;
  lived: Missing;
}
interface Missing {
  sent: number;
  lost: number;
}

/** `owner` serves, and `blow` befalls it now. What is returned says what was seen from now until it is asked. */
export function lookOn(ledger: Ledger, blow: string, owner: Machine) {
  const from = performance.now();
  const pagesBefore = ledger.pages.length;
  return (taken: number | null): (() => Seen) => {
    const to = performance.now();
    const within = ({ at }: { at: number }) => at >= from && at < to;
    const pages = ledger.pages.slice(pagesBefore);
    const began = (n: string) => ledger.began.get(n) ?? 0;
    const next = Math.min(...pages.filter(({ n }) => began(n) > from).map(({ at }) => at)) - from;
    const twice = pages.length - new Set(pages.map(({ n }) => n)).size;
    const refused = ledger.refused.filter(within).map(({ how }) => how);
    const waited = Math.max(0, ...ledger.heard.filter(within).map((one) => one.waited));
    const datagrams = ledger.datagrams.filter(within);
    const missing = (some: typeof datagrams, rung: ReadonlySet<string>): Missing => ({
      sent: some.length,
      lost: some.filter(({ n }) => !rung.has(n)).length,
    });
    // A datagram may be on its way until the story's end.
    return () => {
      const rung = new Set(ledger.pages.map(({ n }) => n));
      return {
        blow,
        next,
        taken,
        twice,
        refused,
        waited,
        pages: pages.length,
        struck: missing(
          datagrams.filter((one) => one.to === owner),
          rung,
        ),
        lived: missing(
          datagrams.filter((one) => one.to !== owner),
          rung,
        ),
      };
    };
  };
}

/** A line for each blow. */
export function tableOf(all: readonly Seen[]): string {
  const head = [
    "fault (times)",
    "next page: median, worst",
    "from the machine that took over",
    "pages twice",
    "HTTP refused",
    "longest wait for 202",
    "datagrams lost: to who stood by, to who served",
  ];
  const rows = [...Map.groupBy(all, ({ blow }) => blow)].map(([blow, some]) => {
    const sum = (of: (one: Seen) => number) => some.reduce((total, one) => total + of(one), 0);
    const lost = (of: (one: Seen) => Missing) =>
      `${sum((one) => of(one).lost)} of ${sum((one) => of(one).sent)}`;
    const takes = some.flatMap(({ taken }) => taken ?? []);
    return [
      `${blow} (${some.length})`,
      spread(some.map(({ next }) => next)),
      takes.length === 0 ? "–" : spread(takes),
      `${sum(({ twice }) => twice)} of ${sum(({ pages }) => pages)}`,
      counted(some.flatMap(({ refused }) => refused)),
      seconds(Math.max(...some.map(({ waited }) => waited))),
      `${lost(({ lived }) => lived)}, ${lost(({ struck }) => struck)}`,
    ];
  });
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");
}

const seconds = (ms = 0) => `${(ms / 1000).toFixed(1)} s`;

function spread(all: readonly number[]): string {
  const sorted = all.toSorted((a, b) => a - b);
  return `${seconds(sorted[Math.floor(sorted.length / 2)])}, ${seconds(sorted.at(-1))}`;
}

/** How often each of them. */
function counted(all: readonly string[]): string {
  const groups = [...Map.groupBy(all, (one) => one)];
  return groups.map(([one, { length }]) => `${one} ${length}`).join(", ") || "none";
}
