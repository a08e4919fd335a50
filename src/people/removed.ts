import { eq } from "drizzle-orm";
import { sha256 } from "../ground/kit/ids.ts";
import { removedPeople } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { foldEmail } from "./email.ts";

/** The addresses of removed accounts. Only an invitation lets such a person come back. */

const hashOf = (email: string): string => sha256(`removed ${foldEmail(email)}`);

/** Stored together with the account's removal. */
export function noteRemoved(tx: Tx, email: string): void {
  const set = { removedAt: tx.at };
  tx.orm
    .insert(removedPeople)
    .values({ emailHash: hashOf(email), ...set })
    .onConflictDoUpdate({ target: removedPeople.emailHash, set })
    .run();
}

/** Whether an account with this address was removed before. */
export const wasRemoved = (reader: Reader, email: string): boolean =>
  reader.orm
    .select()
    .from(removedPeople)
    .where(eq(removedPeople.emailHash, hashOf(email)))
    .get() !== undefined;
