import { and, asc, eq, lt, or } from "drizzle-orm";
import { notFound, ServiceError } from "../ground/kit/errors.ts";
import { hexId } from "../ground/kit/ids.ts";
import { mustBeFewer, rowsCounted } from "../ground/store/rows-counted.ts";
import { accounts, passkeys } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { type ActingAccount, mustManageAccount } from "./accounts.ts";
import { mustStayOpen } from "./oidc/password-switch.ts";
import { endByPasskey } from "./sessions.ts";

/** A passkey as its owner sees it. */
export interface Passkey {
  id: string;
  /** The owner's name for it. */
  name: string;
  /** The host name at which it works. */
  host: string;
  created_at: number;
  last_used_at: number | null;
  /** When its counter last went back, which can mean that there is a copy of it. */
  doubted_at: number | null;
  /** base64url. */
  credential: string;
}

/** Passkeys of one account. */
export const MOST_PASSKEYS = 10;

/** One account's passkeys, oldest first. */
export function listPasskeys(reader: Reader, accountId: string): Passkey[] {
  return reader.orm
    .select({
      id: passkeys.id,
      name: passkeys.name,
      host: passkeys.rpId,
      created_at: passkeys.createdAt,
      last_used_at: passkeys.lastUsedAt,
      doubted_at: passkeys.doubtedAt,
      credential: passkeys.credential,
    })
    .from(passkeys)
    .where(eq(passkeys.accountId, accountId))
    .orderBy(asc(passkeys.createdAt), asc(passkeys.id))
    .all();
}

/** A new passkey, as its authenticator described it. */
interface PasskeyWrite {
  accountId: string;
  name: string;
  /** Both base64url; the key is COSE (RFC 9052 §7). */
  credential: string;
  publicKey: string;
  rpId: string;
  counter: number;
  transports: readonly string[];
}

/** Throws 422 too_many; invalid_request for a known credential. */
export function insertPasskey(tx: Tx, passkey: PasskeyWrite): void {
  const { accountId, transports } = passkey;
  mustBeFewer(rowsCounted(tx, passkeys, eq(passkeys.accountId, accountId)), MOST_PASSKEYS, {
    whose: "An account",
    what: "passkeys",
    advice: "remove one that nobody uses",
  });
  if (findPasskey(tx, passkey.credential) !== undefined)
    throw new ServiceError("invalid_request", "This passkey is known here already.");
  tx.orm
    .insert(passkeys)
    .values({
      ...passkey,
      id: hexId(tx.random),
      createdAt: tx.at,
      transports: JSON.stringify(transports),
    })
    .run();
  tx.note({ topic: "people" });
}

/** Finds a passkey by its credential id. */
export function findPasskey(reader: Reader, credential: string) {
  return reader.orm.select().from(passkeys).where(eq(passkeys.credential, credential)).get();
}

/** Stores a use; false where the passkey is gone, or its counter isn't above the stored one (0 and 0: no counter). */
export function usePasskey(tx: Tx, { id, counter }: { id: string; counter: number }): boolean {
  const isNext = or(
    lt(passkeys.counter, counter),
    counter === 0 ? eq(passkeys.counter, 0) : undefined,
  );
  const { changes } = tx.orm
    .update(passkeys)
    .set({ counter, lastUsedAt: tx.at })
    .where(and(eq(passkeys.id, id), isNext))
    .run();
  return changes === 1;
}

/** Marks that the counter went back. */
export function doubtPasskey(tx: Tx, id: string): void {
  tx.orm.update(passkeys).set({ doubtedAt: tx.at }).where(eq(passkeys.id, id)).run();
  tx.note({ topic: "people" });
}

/**
 * Removes a passkey. From the commit on it is invalid, and browsers that signed in with it are signed out, except the
 * session `kept`. Everyone can remove their own; another's needs the right to change that account. Throws 404, 403; 409
 * where passwords are off and no owner could sign in any more.
 */
export function removePasskey(
  tx: Tx,
  by: ActingAccount,
  { id, kept }: { id: string; kept: string },
): void {
  const found = tx.orm
    .select({ accountId: accounts.id, role: accounts.role })
    .from(passkeys)
    .innerJoin(accounts, eq(accounts.id, passkeys.accountId))
    .where(eq(passkeys.id, id))
    .get();
  if (found === undefined) throw notFound("passkey");
  if (found.accountId !== by) mustManageAccount(tx, by, found.role);
  endByPasskey(tx, id, kept);
  tx.orm.delete(passkeys).where(eq(passkeys.id, id)).run();
  mustStayOpen(tx);
  tx.note({ topic: "people" });
}
