import { and, eq, ne } from "drizzle-orm";
import { contacts } from "../../ground/store/schema.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { ContactRow } from "./contacts.ts";

/** Failures in a row from which on a contact is called failing. It goes on being tried. */
const FAILING = 3;

/** How an attempt at a contact ended. */
type ContactEnd =
  | { well: true; sent: boolean }
  /** `lost`: trying again can't help. `gone`: it asked for no more, or isn't there any longer. */
  | { well: false; error: string; lost: boolean; gone: boolean };

/** Writes how it went: what a person, the doctor and the next page want to know of the contact. */
export function recordAttempt(tx: Tx, contact: ContactRow, end: ContactEnd): void {
  const isOn = and(eq(contacts.id, contact.id), ne(contacts.state, "off"));
  if (end.well) {
    const state = contact.state === "failing" ? "verified" : contact.state;
    tx.orm
      .update(contacts)
      .set({
        state,
        failures: 0,
        lastError: null,
        lastOkAt: tx.at,
        ...(end.sent ? { sentMs: tx.clock.now() } : {}),
      })
      .where(isOn)
      .run();
    return;
  }
  const failures = contact.failures + 1;
  const isFailing = contact.state === "verified" && (end.lost || failures >= FAILING);
  const state = end.gone ? "off" : isFailing ? "failing" : contact.state;
  tx.orm.update(contacts).set({ state, failures, lastError: end.error }).where(isOn).run();
}

/** A device showed a message, so many seconds after it was sent: it works, whatever was thought of it. */
export function markShown(tx: Tx, contact: ContactRow, after: number): void {
  const state = contact.state === "failing" ? "verified" : contact.state;
  tx.orm
    .update(contacts)
    .set({ state, failures: 0, lastError: null, shownAt: tx.at, shownAfter: after })
    .where(and(eq(contacts.id, contact.id), ne(contacts.state, "off")))
    .run();
  tx.note({ topic: "people" });
}
