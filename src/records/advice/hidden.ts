import type { Reader, Tx } from "../../ground/store/store.ts";

/** Advice that somebody said isn't for them: it comes again if it still holds later. */

const HIDDEN_SECONDS = 90 * 86_400;

export function hiddenNow(reader: Reader, now: number): ReadonlySet<string> {
  const ids = reader
    .sql<[number], string>("SELECT id FROM advice_hidden WHERE until > ?")
    .pluck()
    .all(now);
  return new Set(ids);
}

/** Until when: Unix seconds. */
export function hideAdvice(tx: Tx, id: string): { id: string; until: number } {
  const until = tx.at + HIDDEN_SECONDS;
  tx.sql<[number]>("DELETE FROM advice_hidden WHERE until <= ?").run(tx.at);
  tx.sql<[string, number]>(
    `INSERT INTO advice_hidden (id, until) VALUES (?, ?)
      ON CONFLICT DO UPDATE SET until = excluded.until`,
  ).run(id, until);
  return { id, until };
}
