import { dropRecord, getRecord, listRecords, putRecord } from "./records.ts";
import { alertOf, type PushTold } from "./told.ts";

/* Pushes that came, for pages of alerts that nobody opened here. */

const LONGEST_MS = 7 * 86_400_000;

const keyOf = (alert: string): string => `told/${alert}`;

/** The latest of an alert is kept, for a page of it while the box can't be reached. */
export async function rememberTold(told: PushTold): Promise<void> {
  const alert = alertOf(told.data);
  if (alert === null) return;
  await putRecord(keyOf(alert), told);
  for (const [key, { data }] of await listRecords<PushTold>("told/"))
    if (Date.now() - data.server_time * 1000 > LONGEST_MS) await dropRecord(key);
}

export const pushedAlert = (alert: string): Promise<PushTold | null> =>
  getRecord<PushTold>(keyOf(alert));
