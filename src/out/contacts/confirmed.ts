import { eq } from "drizzle-orm";
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
    rows.flatMap(({ id, verifiedAt, shownAt, serverKey }): [string, number][] => {
      // A browser that added itself counts at once and has proved nothing by that.
      const coded = serverKey === null ? verifiedAt : null;
      const at = Math.max(coded ?? 0, shownAt ?? 0);
      return at === 0 ? [] : [[id, at]];
    }),
  );
}
