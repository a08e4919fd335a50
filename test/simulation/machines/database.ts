import type { FoundStore } from "../../../src/hosted/record/taking.ts";

/** A commit: what it adds to the store, and how far what was handed over is taken. */
export interface Commit {
  n: number;
  events: readonly string[];
  taken?: { id: string; n: number };
}

/** A store is the commits that made it. */
export type Commits = readonly Commit[];

export const numberOf = (store: Commits): number => store.at(-1)?.n ?? 0;

export interface Row {
  id: string;
  n: number;
  event: string;
}

/** How asking went. "lost": it was done, and the answer never came. */
export type Fate = "answered" | "lost" | "away";

export class NoAnswer extends Error {}
export class Taken extends Error {}

const LIFE_MS = 10_000;

/** What the database does, as the statements of `taking.ts`, `postgres-record.ts` and `handed.ts` say it. */
export function createDatabase(clock: { ms: number }) {
  let pages: Commits = [];
  let whose = { node: "", run: "", epoch: 0, clean: true, aliveUntil: 0 };
  let [lastOther, others] = ["", 0];
  const epochs: { epoch: number; seq: number }[] = [];
  let rows: Row[] = [];
  const isOurs = (run: string, epoch: number) => whose.run === run && whose.epoch === epoch;
  const own = (run: string, epoch: number) => {
    if (!isOurs(run, epoch)) throw new Taken("another has it");
    whose.aliveUntil = clock.ms + LIFE_MS;
  };
  const found = (): FoundStore => ({
    tenantId: "t",
    node: whose.node,
    run: whose.run,
    epoch: whose.epoch,
    seq: numberOf(pages),
    keyId: null,
    address: null,
    flags: null,
    isAlive: whose.aliveUntil > clock.ms,
    clean: whose.clean,
    unheard: 0,
  });
  return {
    found,
    pages: () => pages,
    rows: () => rows,
    hasOthers: () => others > clock.ms,
    standBy(node: string) {
      [lastOther, others] = [node, clock.ms + LIFE_MS];
      return found();
    },
    standsNoMore(node: string) {
      if (lastOther === node) others = 0;
    },
    take(node: string, run: string, before: { epoch: number; isOwn: boolean }) {
      if (whose.run === run) return whose.epoch;
      if (found().isAlive && !before.isOwn) throw new Taken("it lives");
      if (before.epoch !== whose.epoch && !before.isOwn) throw new Taken("it was another's");
      whose = { node, run, epoch: whose.epoch + 1, clean: false, aliveUntil: clock.ms + LIFE_MS };
      epochs.push({ epoch: whose.epoch, seq: numberOf(pages) });
      return whose.epoch;
    },
    /** `latest`: what was kept last; null: all is compared. Whether it was kept. */
    keep(run: string, epoch: number, to: { store: Commits; latest: number | null }): boolean {
      own(run, epoch);
      const at = numberOf(pages);
      if (to.latest !== null && at !== to.latest && at !== numberOf(to.store)) return false;
      pages = to.store;
      return true;
    },
    renew(run: string, epoch: number): number {
      own(run, epoch);
      return numberOf(pages);
    },
    leave(run: string, epoch: number) {
      if (isOurs(run, epoch)) whose = { ...whose, clean: true, aliveUntil: 0 };
    },
    /** Where the history of that epoch ended. */
    endOf: (epoch: number) => epochs.find((one) => one.epoch > epoch)?.seq ?? numberOf(pages),
    hand(handed: readonly Row[]) {
      const has = new Set(rows.map(({ id, n }) => `${id} ${n}`));
      rows = [...rows, ...handed.filter(({ id, n }) => !has.has(`${id} ${n}`))];
    },
    forget: (id: string, upTo: number) => {
      rows = rows.filter((row) => row.id !== id || row.n > upTo);
    },
  };
}

export type ModelDatabase = ReturnType<typeof createDatabase>;
