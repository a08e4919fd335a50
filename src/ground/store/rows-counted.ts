import { count, type SQL } from "drizzle-orm";
import type { SQLiteTable } from "drizzle-orm/sqlite-core";
import { ServiceError } from "../kit/errors.ts";
import type { Reader } from "./store.ts";

/** Rows of a table, those for which `where` holds. */
export const rowsCounted = (
  reader: Pick<Reader, "orm">,
  table: SQLiteTable,
  where?: SQL | undefined,
): number => reader.orm.select({ n: count() }).from(table).where(where).get()?.n ?? 0;

/** Throws 422 too_many where there are `most` already: `A person has at most 50 contacts.` */
export function mustBeFewer(
  n: number,
  most: number,
  { whose, what, advice }: { whose: string; what: string; advice?: string },
): void {
  if (n < most) return;
  const told = `${whose} has at most ${most} ${what}`;
  throw new ServiceError("too_many", advice === undefined ? `${told}.` : `${told}: ${advice}.`, {
    details: [{ reason: `at most ${most} ${what}`, value: String(n) }],
  });
}
