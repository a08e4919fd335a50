import { othersFirst } from "../../kit/slices.ts";
import type { Collected, Collector } from "./collector.ts";
import type { KeptPage, PageRecord, RecordEnd } from "./record.ts";
import { createPageSums, type PageSums, pageHash } from "./sums.ts";

const SLICE = 256;

/** The end that these pages make of what `sums` tells; `sums` follows. */
export function endAfter({ pages, ...rest }: Collected, sums: PageSums): RecordEnd {
  sums.cut(rest.pageCount);
  const kept: KeptPage[] = [];
  for (const [page, image] of pages) {
    if (page > rest.pageCount) continue;
    const hash = pageHash(page, image);
    sums.set(page, hash);
    kept.push({ page, hash, image });
  }
  return { ...rest, sum: sums.sum, pages: kept };
}

interface CompareCalls {
  /** The record answered. */
  heard(): void;
  /** The change has begun. What says that it lives would wait for the change. */
  begins(): void;
  /** What is committed later isn't in it. */
  taken(): void;
}

/** A gap came while pages were compared. */
export class Interrupted extends Error {}

/**
 * Makes the record like the store: compares the hash of each page and writes those that differ, in one transaction, while
 * the store goes on. Resolves with the sums of all pages, how many were written, and up to which commit. Rejects with Interrupted where
 * commits were missed meanwhile.
 */
export async function compare(
  collector: Collector,
  record: PageRecord,
  { heard, begins, taken }: CompareCalls,
): Promise<{ sums: PageSums; written: number; seq: number }> {
  collector.begin();
  const theirs = await record.hashes();
  heard();
  const sums = createPageSums();
  const other: number[] = [];
  const there = createPageSums();
  for (const { page, hash } of theirs) there.set(page, hash);
  const count = collector.pageCount;
  for (let page = 1; page <= count; page++) {
    if (page % SLICE === 0) await othersFirst();
    if (collector.isGap) throw new Interrupted();
    const image = collector.isCollected(page) ? null : collector.read(page);
    if (image === null) continue;
    sums.set(page, pageHash(page, image));
    if (sums.of(page) !== there.of(page)) other.push(page);
  }
  const late: Collected["pages"] = new Map();
  let written = 0;
  const pages = function* () {
    begins();
    written = 0;
    for (let from = 0; from < other.length; from += SLICE) {
      const slice = other.slice(from, from + SLICE).flatMap((page): KeptPage[] => {
        const image = late.has(page) || collector.isCollected(page) ? null : collector.read(page);
        if (image === null) return [];
        const hash = pageHash(page, image);
        sums.set(page, hash);
        return [{ page, hash, image }];
      });
      written += slice.length;
      yield slice;
    }
  };
  let seq = 0;
  const end = () => {
    if (collector.isGap) throw new Interrupted();
    const latest = collector.take();
    seq = latest.seq;
    taken();
    for (const [page, image] of latest.pages) late.set(page, image);
    return endAfter({ ...latest, pages: late }, sums);
  };
  await record.mend({ count: other.length, pages, end, heard });
  return { sums, written: written + late.size, seq };
}
