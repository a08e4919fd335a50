import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { StoreFault } from "../../ground/store/faults.ts";
import { createPageSums, PAGE, pageHash } from "../../ground/store/record/sums.ts";
import type { Database } from "../registry/postgres/connect.ts";
import { imageOf } from "./body.ts";

const SLICE = 256;

/**
 * Writes the pages that a database holds of a store to a new file. Only for the store's owner, since nobody else writes
 * them then. Rejects with StoreFault where they aren't what was kept.
 */
export async function restorePages(
  database: Database,
  tenantId: string,
  path: string,
): Promise<void> {
  const [end] = await database.query<{ count: number; sum: string }>(
    "SELECT page_count AS count, page_sum::text AS sum FROM tenant_stores WHERE tenant_id = $1",
    [tenantId],
  );
  const sums = createPageSums();
  const file = openSync(path, "wx", 0o600);
  let found = 0;
  try {
    for (let after = 0; ; ) {
      const rows = await database.query<{ page: number; body: Buffer }>(
        "SELECT page, body FROM tenant_pages WHERE tenant_id = $1 AND page > $2 ORDER BY page LIMIT $3",
        [tenantId, after, SLICE],
      );
      for (const { page, body } of rows) {
        const image = imageIn(body);
        if (image === null) throw damaged();
        sums.set(page, pageHash(page, image));
        writeSync(file, image, 0, PAGE, (page - 1) * PAGE);
      }
      found += rows.length;
      after = rows.at(-1)?.page ?? 0;
      if (rows.length < SLICE) break;
    }
    if (end === undefined || found === 0 || found !== end.count || String(sums.sum) !== end.sum)
      throw damaged();
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function imageIn(body: Buffer): Buffer | null {
  try {
    return imageOf(body);
  } catch {
    return null;
  }
}

const damaged = () =>
  new StoreFault(
    "damaged",
    "The database's pages of this box aren't what was kept there: restore the latest backup with box restore, and serve it with an empty database.",
  );
