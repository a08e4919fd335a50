import { eq } from "drizzle-orm";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Passwords } from "../ground/kit/password.ts";
import { accounts, pairCodes } from "../ground/store/schema.ts";
import type { Store, Tx } from "../ground/store/store.ts";
import { getAccount } from "./accounts.ts";
import { endOthers } from "./sessions.ts";
import type { Tries } from "./tries.ts";

/** Stores an account's new password hash. Ends its sessions except `kept`, and its links that set a password. */
export function replacePassword(
  tx: Tx,
  { accountId, hash, kept }: { accountId: string; hash: string; kept: string | null },
): void {
  tx.orm.update(accounts).set({ passwordHash: hash }).where(eq(accounts.id, accountId)).run();
  tx.orm.delete(pairCodes).where(eq(pairCodes.accountId, accountId)).run();
  endOthers(tx, accountId, kept);
  tx.note({ topic: "people" });
}

interface PasswordChange {
  accountId: string;
  old: string;
  new: string;
  /** The session that made the change, which stays; null: no session stays. */
  kept: string | null;
}

/**
 * Changes the password of somebody who knows the old one. Throws 422 password_refused; 429 rate_limited. Wrong tries
 * count together with those at sign-in, so a stolen key guesses no faster.
 */
export async function changePassword(
  { store, passwords, tries }: { store: Store; passwords: Passwords; tries: Tries },
  change: PasswordChange,
): Promise<void> {
  const { accountId, kept } = change;
  const counted = tries.begin(getAccount(store, accountId).email);
  const before = hashOf(store, accountId);
  try {
    if (!(await passwords.verify(change.old, before))) throw refusedPassword();
    const hash = await passwords.hash(change.new);
    store.write((tx) => {
      if (hashOf(tx, accountId) !== before) throw refusedPassword();
      replacePassword(tx, { accountId, hash, kept });
    });
    counted.takeBack();
  } catch (error) {
    const isWrong = error instanceof ServiceError && error.code === "password_refused";
    if (isWrong) counted.wrong();
    else counted.takeBack();
    throw error;
  }
}

function refusedPassword(): ServiceError {
  return new ServiceError("password_refused", "The old password is wrong.", {
    details: [{ field: "/old", reason: "is not the account's password" }],
  });
}

function hashOf(reader: Store | Tx, accountId: string): string | null {
  const account = reader.orm
    .select({ hash: accounts.passwordHash })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .get();
  return account?.hash ?? null;
}
