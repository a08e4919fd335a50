import { and, eq } from "drizzle-orm";
import { contacts } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";

/**
 * When each way of a person's last proved that it reaches them, in Unix seconds, by its id: its code came back, or the device said
 * that it showed something. That a service took a message proves nothing. Ways that never did aren't there.
 */
export function confirmedTimes(reader: Reader, account: string): ReadonlyMap<string, number> {
  const rows = reader.orm
    .select({
      id: contacts.id,
      verifiedAt: contacts.verifiedAt,
      shownAt: contacts.shownAt,
      serverKey: contacts.serverKey,
    })
    .from(contacts)
    .where(eq(contacts.accountId, account))
    .all();
  return new Map(
    rows.flatMap(({ id, ...row }): [string, number][] => {
      const at = provedAt(row);
      return at === 0 ? [] : [[id, at]];
    }),
  );
}

/**
 * Of everybody who has a way that is used, or of one person: when any of theirs last proved that it reaches them, in Unix seconds;
 * 0: none did. Whoever has no such way isn't there.
 */
export function provedTimes(
  reader: Reader,
  only: string | null = null,
): ReadonlyMap<string, number> {
  const { accountId, state, verifiedAt, shownAt, serverKey } = contacts;
  const rows = reader.orm
    .select({ accountId, verifiedAt, shownAt, serverKey })
    .from(contacts)
    .where(and(eq(state, "verified"), only === null ? undefined : eq(accountId, only)))
    .all();
  const times = new Map<string, number>();
  for (const row of rows)
    times.set(row.accountId, Math.max(times.get(row.accountId) ?? 0, provedAt(row)));
  return times;
}

/** A browser that added itself counts at once and has proved nothing by that. */
const provedAt = (row: {
  verifiedAt: number | null;
  shownAt: number | null;
  serverKey: string | null;
}): number => Math.max((row.serverKey === null ? row.verifiedAt : null) ?? 0, row.shownAt ?? 0);
