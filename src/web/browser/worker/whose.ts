import { dropDevice } from "./device.ts";
import { dropHeld } from "./outbox.ts";
import { dropRecord, getRecord, listRecords, putRecord } from "./records.ts";
import { worker } from "./scope.ts";

/* Whose all of this is: what was kept for one is shown to no other. */

interface Owner {
  who: string;
  /** Their session is over. */
  isOut?: true;
}

/** An account's page was shown: what another's left goes, with the pushes that came here for them. */
export async function beWhose(who: string): Promise<void> {
  const known = await getRecord<Owner>("who");
  if (known?.who === who && !known.isOut) return;
  if (known !== null && known.who !== who) {
    await forgetKept("Another account signed in.");
    await forgetTold();
    await unsubscribe();
    await dropDevice();
  }
  await putRecord("who", { who });
}

/**
 * The session is over: what was kept for it goes. Pushes go on, and what was pressed on one: what rings doesn't fall silent because
 * a browser was signed out by time. Pages may notice it one after another, much later: what was pushed since the first is shown.
 */
export async function forgetKept(why: string): Promise<void> {
  await dropHeld(why);
  await caches.delete("pages");
  const owner = await getRecord<Owner>("who");
  if (owner?.isOut) return;
  if (owner !== null) await putRecord("who", { ...owner, isOut: true });
  await forgetTold();
}

async function forgetTold(): Promise<void> {
  for (const [key] of await listRecords("told/")) await dropRecord(key);
}

/** Signed out: nothing of them stays, this worker included. */
export async function forgetAll(): Promise<void> {
  await dropHeld("You signed out.");
  await unsubscribe();
  for (const name of await caches.keys()) await caches.delete(name);
  await worker.registration.unregister();
}

async function unsubscribe(): Promise<void> {
  const subscription = await worker.registration.pushManager?.getSubscription();
  await subscription?.unsubscribe();
}
