import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { othersFirst } from "../../ground/kit/slices.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { createPageSums, PAGE, type PageSums, pageHash } from "../../ground/store/record/sums.ts";
import type { DatabaseLane, DatabaseTx } from "../registry/postgres/connect.ts";
import { HASHES, hashesIn, imageOf } from "./body.ts";

const SLICE = 256;
/** So many pages are fetched in one transaction. More come in slices before, and what changed meanwhile after them. */
const AT_ONCE = 1_024;
const LIST_MS = 30_000;
/** Where the first page has it (https://sqlite.org/fileformat2.html#user_version_number). */
const USER_VERSION = 60;

/** A file that is made what the database holds of a store. No SQLite has it open. */
export type StoreCopy = ReturnType<typeof openCopy>;

interface End {
  seq: number;
  count: number;
  sum: string;
}

/** What has to be fetched to be at an end. */
interface Missing {
  end: End;
  pages: number[];
}

/** Opens the file, or makes it. Whatever it holds, only pages that differ are fetched. */
export function openCopy(database: DatabaseLane, tenantId: string, path: string) {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
  const sums = createPageSums();
  let isRead = false;
  /** What the file is at least as new as; null: that isn't known. */
  let at: number | null = null;
  let whole: number | null = null;

  const write = (page: number, image: Uint8Array) => {
    try {
      for (let done = 0; done < PAGE; )
        done += writeSync(fd, image, done, PAGE - done, (page - 1) * PAGE + done);
    } catch (error) {
      // By its code it would count as a lost connection of the database.
      throw StoreFault.from(error, path);
    }
  };
  const put = (rows: readonly { page: number; body: Buffer }[]) => {
    for (const { page, body } of rows) {
      const image = imageOf(body);
      if (image === null) throw damaged();
      write(page, image);
      // Only what is written counts: a page whose write failed is fetched again.
      sums.set(page, pageHash(page, image));
    }
  };
  const fetched = async ({ query }: Pick<DatabaseTx, "query">, pages: readonly number[]) => {
    for (let from = 0; from < pages.length; from += SLICE) {
      const slice = pages.slice(from, from + SLICE);
      const sql =
        "SELECT page, body FROM tenant_pages WHERE tenant_id = $1 AND page = ANY($2::int[])";
      put(await query<{ page: number; body: Buffer }>(sql, [tenantId, slice]));
      await othersFirst();
    }
  };
  const missing = async (tx: DatabaseTx): Promise<Missing> => {
    const [end] = await tx.query<End>(
      "SELECT seq, page_count AS count, page_sum::text AS sum FROM tenant_stores WHERE tenant_id = $1",
      [tenantId],
    );
    if (end === undefined) throw damaged();
    const listed = at === null ? null : await shipped(tx, tenantId, at, end.seq);
    const pages = listed ?? (await differing(tx, tenantId, sums));
    return { end, pages: pages.filter((page) => page <= end.count) };
  };
  const isAt = ({ seq, count, sum }: End): boolean => {
    ftruncateSync(fd, count * PAGE);
    sums.cut(count);
    if (String(sums.sum) !== sum || sums.count !== count) return false;
    at = seq;
    whole = seq;
    return true;
  };
  const step = () =>
    database.transaction(
      async (tx) => {
        await tx.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY");
        const found = await missing(tx);
        if (found.pages.length <= AT_ONCE) await fetched(tx, found.pages);
        return found;
      },
      { withinMs: LIST_MS, repeatable: true },
    );

  return {
    /**
     * Brings it to the latest commit there. Resolves with how many pages that took. Rejects with StoreFault where they
     * aren't what was kept, or can't be written here.
     */
    async follow(): Promise<number> {
      if (!isRead) await readInto(sums, fd);
      isRead = true;
      let count = 0;
      for (let isListed = at !== null; ; ) {
        const { end, pages } = await step();
        if (end.count === 0) return count;
        count += pages.length;
        if (pages.length > AT_ONCE) {
          await fetched(database, pages);
          // What changed meanwhile is in later ships, or found by comparing again.
          at = end.seq;
          isListed = true;
          continue;
        }
        if (isAt(end)) return count;
        // All pages were compared, and still it isn't what was kept.
        if (!isListed) throw damaged();
        at = null;
        isListed = false;
      }
    },
    /** Number of the latest commit that is wholly in it; null before the first, also where there is none yet. */
    get seq(): number | null {
      return whole;
    },
    /** Of its pages. */
    sums,
    /** Whether the database still has each page of it: the file can be made, and the database lack what made it. */
    async isThere(): Promise<boolean> {
      const [row] = await database.query<{ count: number; sum: string | null }>(
        "SELECT count(*)::int AS count, bit_xor(hash)::text AS sum FROM tenant_pages WHERE tenant_id = $1",
        [tenantId],
        { withinMs: LIST_MS },
      );
      return row?.count === sums.count && row.sum === String(sums.sum);
    },
    /** How many changes of its tables the store has had (`user_version`). */
    schema(): number {
      const version = Buffer.alloc(4);
      readSync(fd, version, 0, 4, USER_VERSION);
      return version.readInt32BE(0);
    },
    close: () => closeSync(fd),
  };
}

/** The pages that were written after `from`; null where they aren't all listed. */
async function shipped(
  tx: DatabaseTx,
  tenantId: string,
  from: number,
  to: number,
): Promise<number[] | null> {
  const rows = await tx.query<{ seq: number; before: number; pages: number[] | null }>(
    "SELECT seq, before, pages FROM tenant_ships WHERE tenant_id = $1 AND seq > $2 ORDER BY seq",
    [tenantId, from],
  );
  const pages = new Set<number>();
  let at = from;
  for (const row of rows) {
    if (row.before !== at || row.pages === null) return null;
    for (const page of row.pages) pages.add(page);
    at = row.seq;
  }
  return at === to ? [...pages] : null;
}

/** The pages whose hash there is another one than in the file. */
async function differing(tx: DatabaseTx, tenantId: string, sums: PageSums): Promise<number[]> {
  const [row] = await tx.query<{ pages: Buffer | null }>(`SELECT ${HASHES} AS pages`, [tenantId]);
  return hashesIn(row?.pages ?? null)
    .filter(({ page, hash }) => sums.of(page) !== hash)
    .map(({ page }) => page);
}

async function readInto(sums: PageSums, fd: number): Promise<void> {
  const image = Buffer.alloc(PAGE);
  const count = Math.floor(fstatSync(fd).size / PAGE);
  for (let page = 1; page <= count; page++) {
    if (page % SLICE === 0) await othersFirst();
    readSync(fd, image, 0, PAGE, (page - 1) * PAGE);
    sums.set(page, pageHash(page, image));
  }
}

const damaged = () =>
  new StoreFault(
    "damaged",
    "The database's pages of this box aren't what was kept there: restore the latest backup with box restore, and serve it with an empty database.",
  );
