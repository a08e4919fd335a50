import { eq } from "drizzle-orm";
import { sha256 } from "../../ground/kit/ids.ts";
import { gateways } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** What the box's listeners remember of a gateway: how far they read, and what keeps them from it. */

/** How far a service's answers were read. */
interface ReadPosition {
  /** The service's own word for it: an update's number, a message's id. */
  place: string;
  /** When it was written, in Unix seconds. */
  at: number;
}

/** null where nothing was read yet, or what was read was another's: `of` says whose, a bot's token or a topic's address. */
export function readPositionOf(reader: Reader, kind: string, of: string): ReadPosition | null {
  const row = reader.orm
    .select({ heard: gateways.heard })
    .from(gateways)
    .where(eq(gateways.id, kind))
    .get();
  if (row === undefined || row.heard === null) return null;
  const heard = JSON.parse(row.heard) as ReadPosition & { of: string };
  return heard.of === nameOf(of) ? { place: heard.place, at: heard.at } : null;
}

/** Written once what was read is acted on and committed. */
export function setReadPosition(
  tx: Tx,
  kind: string,
  { of, place }: { of: string; place: string },
): void {
  const heard = JSON.stringify({ of: nameOf(of), place, at: tx.at });
  tx.orm.update(gateways).set({ heard }).where(eq(gateways.id, kind)).run();
}

/** Tells one bot from another, and says nothing of its token. */
const nameOf = (of: string): string => sha256(`heard ${of}`).slice(0, 16);

/** What a listener's errors begin with, so that it takes back none but its own. */
const OWN = "answers: ";

/** What keeps the answers away, as the gateway's error; null: nothing does. Whether this was news. */
export function hearingError(reader: Reader, kind: string, error: string | null): boolean {
  const row = reader.orm
    .select({ lastError: gateways.lastError })
    .from(gateways)
    .where(eq(gateways.id, kind))
    .get();
  if (row === undefined) return false;
  return error === null
    ? row.lastError?.startsWith(OWN) === true
    : row.lastError !== `${OWN}${error}`;
}

/** Writes it down, for reads. */
export function markHearing(tx: Tx, kind: string, error: string | null): void {
  if (!hearingError(tx, kind, error)) return;
  const lastError = error === null ? null : `${OWN}${error}`;
  tx.orm.update(gateways).set({ lastError }).where(eq(gateways.id, kind)).run();
}
