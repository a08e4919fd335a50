import { eq, sql } from "drizzle-orm";
import { ServiceError } from "../../ground/kit/errors.ts";
import { sameSecret, sha256 } from "../../ground/kit/ids.ts";
import { contacts } from "../../ground/store/schema.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { Contact } from "./contact.ts";
import { getContact } from "./contacts.ts";

/** How long a code is good for, in seconds, and how often one may be guessed. */
const CODE_SECONDS = 900;
const CODE_TRIES = 5;

/** Makes a new code for a contact; the one before is worthless. Six digits, to be sent through it. Throws 404. */
export function issueContactCode(tx: Tx, of: { account: string; id: string }): string {
  getContact(tx, of);
  const code = sixDigits(tx);
  tx.orm
    .update(contacts)
    .set({ codeHash: hashOf(of.id, code), codeUntil: tx.at + CODE_SECONDS, codeTries: 0 })
    .where(eq(contacts.id, of.id))
    .run();
  return code;
}

/** Each of the million equally likely. */
function sixDigits(tx: Tx): string {
  while (true) {
    const drawn = tx.random.bytes(4).readUInt32BE();
    if (drawn < 4_294_000_000) return String(drawn % 1_000_000).padStart(6, "0");
  }
}

const hashOf = (id: string, code: string): string => sha256(`${id} ${code}`);

/** What a code came to. */
export type Verified = { contact: Contact } | { refused: string };

/**
 * Verifies a contact by the code that came through it. A wrong one counts, so this is an answer and not an error:
 * the count must be committed. Throws 404.
 */
export function verifyContact(tx: Tx, of: { account: string; id: string }, code: string): Verified {
  const contact = getContact(tx, of);
  const row = tx.orm
    .select({ hash: contacts.codeHash, until: contacts.codeUntil, tries: contacts.codeTries })
    .from(contacts)
    .where(eq(contacts.id, of.id))
    .get();
  const { hash = null, until = null, tries = 0 } = row ?? {};
  if (hash === null || until === null || until <= tx.at)
    return { refused: "There is no code that is still good: have a new one sent." };
  if (tries >= CODE_TRIES)
    return { refused: "The code was guessed at too often: have a new one sent." };
  if (!sameSecret(hash, hashOf(of.id, code.replace(/\s/g, "")))) {
    tx.orm
      .update(contacts)
      .set({ codeTries: sql`${contacts.codeTries} + 1` })
      .where(eq(contacts.id, of.id))
      .run();
    return {
      refused: `That is not the code that was sent (${CODE_TRIES - tries - 1} tries left).`,
    };
  }
  markVerified(tx, of.id);
  return { contact: { ...contact, state: "verified", verified_at: tx.at } };
}

/** The contact counts from now on: what was sent through it came back. */
export function markVerified(tx: Tx, id: string): void {
  tx.orm
    .update(contacts)
    .set({
      state: "verified",
      verifiedAt: tx.at,
      codeHash: null,
      codeUntil: null,
      codeTries: 0,
      failures: 0,
      lastError: null,
    })
    .where(eq(contacts.id, id))
    .run();
  tx.note({ topic: "contact", id });
  tx.note({ topic: "people" });
}

export function codeRefused(why: string): ServiceError {
  return new ServiceError("code_refused", why, {
    details: [{ field: "/code", reason: "refused" }],
  });
}
