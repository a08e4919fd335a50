import { getMeta, setMeta } from "../../ground/store/meta.ts";
import type { Store } from "../../ground/store/store.ts";

/**
 * Which integrations page people's phones: the relay's, and where this program pushes itself, those of kind apns.
 * On a box these push nothing.
 */
export const PAGES_PHONES = `(relay = 1 OR (type = 'apns' AND EXISTS (SELECT 1 FROM meta WHERE key = 'pushes' AND value = 1)))`;

/** Remembers whether this program pushes itself: a tenant's file may come from a hosted service to a box. */
export function rememberPushes(store: Store, pushes: boolean): void {
  if ((getMeta(store, "pushes") === 1) === pushes) return;
  store.write((tx) => setMeta(tx, "pushes", pushes ? 1 : 0));
}
