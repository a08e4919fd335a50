import { eq } from "drizzle-orm";
import { knownZone, namedClock, type ReaderClock } from "../ground/kit/wall-time.ts";
import { getMeta } from "../ground/store/meta.ts";
import { accounts } from "../ground/store/schema.ts";
import type { Reader } from "../ground/store/store.ts";

/** Whose clock times go by that are told to people. */

/** The tenant's zone, as its settings say; UTC where they say nothing. */
export const tenantZone = (reader: Reader): string =>
  String(getMeta(reader, "numbers_timezone") ?? "UTC");

/** Of a room, which many people read. */
export const tenantClock = (reader: Reader): ReaderClock => namedClock(tenantZone(reader));

/** Of a person: their own, without a name. Whoever gave none reads `otherwise` (an IANA name; the tenant's zone), by its name. */
export function clockOfPerson(
  reader: Reader,
  account: string,
  otherwise: string = tenantZone(reader),
): ReaderClock {
  const row = reader.orm
    .select({ own: accounts.timezone })
    .from(accounts)
    .where(eq(accounts.id, account))
    .get();
  const own = row?.own ?? null;
  return own !== null && knownZone(own) !== null ? { zone: own, label: "" } : namedClock(otherwise);
}
