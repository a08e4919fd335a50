import { dropRecord, getRecord, listRecords, putRecord } from "./records.ts";
import { alertOf, type PushTold } from "./told.ts";

/* Pushes that came, for pages of alerts that nobody opened here. */

interface KeptPush {
  told: PushTold;
  /** By the browser's clock, whatever the box's says: unix milliseconds. */
  at: number;
}

const LONGEST_MS = 7 * 86_400_000;

const keyOf = (alert: string): string => `told/${alert}`;

/** The latest of an alert is kept, for a page of it while the box can't be reached. */
export async function rememberTold(told: PushTold): Promise<void> {
  const alert = alertOf(told.data);
  if (alert === null) return;
  await putRecord(keyOf(alert), { told, at: Date.now() });
  for (const [key, { at }] of await listRecords<KeptPush>("told/"))
    if (Date.now() - at > LONGEST_MS) await dropRecord(key);
}

export const pushedAlert = async (alert: string): Promise<PushTold | null> =>
  (await getRecord<KeptPush>(keyOf(alert)))?.told ?? null;
