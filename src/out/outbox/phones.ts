import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Store } from "../../ground/store/store.ts";

/** Integrations by which this program pushes itself: on a box those of kind apns push nothing. */
export const PUSHES_ITSELF = `type = 'apns' AND EXISTS (SELECT 1 FROM meta WHERE key = 'pushes' AND value = 1)`;

/** Integrations that page people's phones: the relay's, and those by which this program pushes itself. */
export const PAGES_PHONES = `(relay = 1 OR (${PUSHES_ITSELF}))`;

/** What phones are paged for. */
const events = ["alert.escalated", "alert.renotified"];
export const isPushEvent = (event: string): boolean => events.includes(event);
/** The same in SQL. */
export const PUSH_EVENTS = `('${events.join("', '")}')`;

/** Remembers whether this program pushes itself: a tenant's file may come from a hosted service to a box. */
export function rememberPushes(store: Store, pushes: boolean): void {
  if ((getMeta(store, "pushes") === 1) === pushes) return;
  store.write((tx) => setMeta(tx, "pushes", pushes ? 1 : 0));
}
