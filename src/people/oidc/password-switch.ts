import { and, eq, exists, isNotNull, isNull, or } from "drizzle-orm";
import { ServiceError } from "../../ground/kit/errors.ts";
import {
  accounts,
  oidcLinks,
  passkeys,
  signInProviders,
  signInRow,
} from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** Whether email and password can open a session. */
export const passwordsOpen = (reader: Reader): boolean =>
  reader.orm.select().from(signInRow).get()?.password ?? true;

/** Accounts that have signed in by an undoubted passkey, or by a provider that still exists. */
export function comesOtherwise({ orm }: Reader) {
  const byPasskey = orm
    .select({ id: passkeys.id })
    .from(passkeys)
    .where(
      and(
        eq(passkeys.accountId, accounts.id),
        isNotNull(passkeys.lastUsedAt),
        isNull(passkeys.doubtedAt),
      ),
    );
  const byProvider = orm
    .select({ id: oidcLinks.id })
    .from(oidcLinks)
    .innerJoin(signInProviders, eq(signInProviders.issuer, oidcLinks.issuer))
    .where(eq(oidcLinks.accountId, accounts.id));
  return or(exists(byPasskey), exists(byProvider));
}

function ownerComesOtherwise(reader: Reader): boolean {
  const owner = reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(eq(accounts.role, "owner"), comesOtherwise(reader)))
    .limit(1)
    .get();
  return owner !== undefined;
}

/** Throws 409 last_owner where passwords are off and no owner has signed in by a passkey or an existing provider. */
export function mustStayOpen(reader: Reader): void {
  if (passwordsOpen(reader) || ownerComesOtherwise(reader)) return;
  throw new ServiceError(
    "last_owner",
    "Without passwords no owner could sign in: an owner must first sign in with a passkey or at a provider.",
  );
}

/** Turns passwords on or off; open sessions stay. Throws as mustStayOpen. */
export function setPasswordsOpen(tx: Tx, password: boolean): void {
  tx.orm
    .insert(signInRow)
    .values({ id: 1, password })
    .onConflictDoUpdate({ target: signInRow.id, set: { password } })
    .run();
  mustStayOpen(tx);
  tx.note({ topic: "people" });
}
