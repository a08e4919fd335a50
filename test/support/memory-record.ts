import {
  type KeptPage,
  type PageRecord,
  type RecordEnd,
  RecordFault,
} from "../../src/ground/store/record/record.ts";

interface State {
  seq: number;
  pageCount: number;
  sum: bigint;
  pages: ReadonlyMap<number, KeptPage>;
}

/** A record that a test looks into, and whose answers are lost as it likes. */
export interface MemoryRecord extends PageRecord {
  readonly now: State;
  /** The database that it holds. */
  image(): Buffer;
  /** What happens to the next question; "lost" is done, and nobody hears of it. */
  fate: () => "answered" | "away" | "lost";
  /** Called between the last that a mending was asked, and its answer. */
  onEnd(): void;
  /** Called for each state that it takes. */
  onKept(state: State): void;
  /** As a standby that lacked the latest changes, and was promoted. */
  setBack(): void;
  /** Another process takes the store. */
  takeAway(): void;
}

export function memoryRecord(): MemoryRecord {
  let now: State = { seq: 0, pageCount: 0, sum: 0n, pages: new Map() };
  let earlier = now;
  let latest = 0;
  let isTaken = false;
  let isAway = false;

  const asked = <T>(does: () => T): Promise<T> => {
    const fate = made.fate();
    if (fate === "away") return Promise.reject(new Error("no answer"));
    if (isAway) return Promise.reject(new RecordFault("taken", "another has it"));
    const done = does();
    return fate === "lost" ? Promise.reject(new Error("no answer")) : Promise.resolve(done);
  };
  const become = (state: State) => {
    earlier = now;
    now = state;
    latest = state.seq;
    made.onKept(state);
  };
  const withPages = (slices: Iterable<readonly KeptPage[]>, end: () => RecordEnd): State => {
    const pages = new Map(now.pages);
    for (const slice of slices)
      for (const one of slice) pages.set(one.page, { ...one, image: Buffer.from(one.image) });
    const { seq, pageCount, sum, pages: last } = end();
    for (const one of last) pages.set(one.page, { ...one, image: Buffer.from(one.image) });
    for (const page of pages.keys()) if (page > pageCount) pages.delete(page);
    return { seq, pageCount, sum, pages };
  };

  const made: MemoryRecord = {
    get now() {
      return now;
    },
    image: () =>
      Buffer.concat(
        Array.from({ length: now.pageCount }, (_, i) => now.pages.get(i + 1)?.image ?? Buffer.of()),
      ),
    fate: () => "answered",
    onKept() {},
    onEnd() {},
    take: () =>
      asked(() => {
        isTaken = true;
      }),
    renew: () => asked(() => now.seq === latest),
    hashes: () => asked(() => [...now.pages.values()].map(({ page, hash }) => ({ page, hash }))),
    keep: (end) =>
      asked(() => {
        if (!isTaken) throw new Error("kept before it was taken");
        if (now.seq !== latest && now.seq !== end.seq) return false;
        become(withPages([], () => end));
        return true;
      }),
    read: (page) => asked(() => now.pages.get(page)?.image ?? null),
    async mend({ pages, end, heard }) {
      // Asked twice where the first answer is lost, as a transaction is.
      await asked(heard).catch(() => withPages(pages(), end));
      await new Promise((resolve) => setImmediate(resolve));
      const state = withPages(pages(), end);
      made.onEnd();
      await asked(() => become(state));
    },
    leave: () => asked(() => {}),
    setBack() {
      now = earlier;
    },
    takeAway() {
      isAway = true;
    },
  };
  return made;
}
