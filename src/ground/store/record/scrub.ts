import type { Clock } from "../../kit/clock.ts";
import type { Collector } from "./collector.ts";
import type { PageRecord } from "./record.ts";
import { type PageSums, pageHash } from "./sums.ts";

const SCRUBBED = 64;

interface ScrubOptions {
  clock: Clock;
  from: Collector;
  record: Pick<PageRecord, "read">;
  /** Of what was kept. */
  sums(): PageSums;
  /** The disk had changed a page; whether it was put back. */
  onRotten(page: number, isBack: boolean): void;
}

/** Finds pages on the disk that no commit wrote. */
export type Scrub = ReturnType<typeof createScrub>;

export function createScrub({ clock, from, record, sums, onRotten }: ScrubOptions) {
  let at = 0;
  let rotten: number[] = [];
  const putBack = { pages: 0, at: null as number | null };
  const isIt = (page: number, image: Uint8Array) => pageHash(page, image) === sums().of(page);
  return {
    /** Looks whether the next few pages on the disk are what was kept. Only while everything is kept. */
    look() {
      const { count } = sums();
      const pages = Array.from(
        { length: Math.min(SCRUBBED, count) },
        (_, i) => ((at + i) % count) + 1,
      );
      at = pages.at(-1) ?? 0;
      rotten = from.rotten(pages, isIt);
    },
    hasFound: () => rotten.length > 0,
    /** Puts one of those back. false: the place hasn't got it either, so that everything has to be compared. */
    async mend(): Promise<boolean> {
      const page = rotten[0] ?? 0;
      const image = await record.read(page);
      rotten = rotten.filter((one) => one !== page);
      if (image !== null && from.putBack(page, image, isIt)) {
        putBack.pages++;
        putBack.at = clock.mono();
        onRotten(page, true);
        return true;
      }
      // It was written meanwhile, or the place hasn't got it either.
      if (from.rotten([page], isIt).length === 0) return true;
      onRotten(page, false);
      return false;
    },
    /** How many pages were put back; and when the latest was, by the monotonic clock. */
    putBack: () => putBack,
  };
}
