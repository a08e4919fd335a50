import { losePerson } from "../core/alerts/fallback.ts";
import type { Tx } from "../ground/store/store.ts";
import { type ActingAccount, removeAccount } from "../people/accounts.ts";

/** As `removeAccount`; an alert that they had acknowledged, or that had paged nobody else, pages others now. */
export function removePerson(tx: Tx, by: ActingAccount, id: string): void {
  removeAccount(tx, by, id);
  losePerson(tx, id);
}
