import type { Sealer } from "../../ground/kit/sealer.ts";
import type { Store } from "../../ground/store/store.ts";
import { rightOf, wasRight } from "../../out/paging/right.ts";
import { type AlertRow, findAlertRow } from "./alert.ts";
import { answerPage, whoseWords } from "./answer.ts";
import { holderOf, livingAlert, whoDid } from "./holder.ts";

/** What a device's button came to: how the alert stands now. */
export interface TakenAlert {
  /** The right has ended with its day, its subscription or its alert: nothing was done. */
  ended: boolean;
  /** null: the alert is no longer kept. */
  state: AlertRow["state"] | null;
  /** By name; null where nobody has it. */
  acked_by: string | null;
  acked_at: number | null;
  /** A sentence for whoever pressed it. */
  said: string;
}

/**
 * Acknowledges the one alert that a link is for, as the person that it was sent to, and no other that its message named. To
 * say it again changes nothing. null for a link that nobody was given. Throws where the disk is full.
 */
export async function takeByDevice(
  store: Store,
  key: { capability: string; sealer: Sealer },
  address: string,
): Promise<TakenAlert | null> {
  const was = wasRight(store, key);
  if (was === null) return null;
  const now = Math.floor(store.clock.now() / 1000);
  const id = livingAlert(store, was.alertId);
  const isOver = findAlertRow(store, id)?.state === "resolved";
  const right = rightOf(store, now, key);
  if (right !== null && !isOver)
    await answerPage(store, key, { verb: "acknowledge", alertId: right.alertId, address });
  const row = findAlertRow(store, id);
  if (row === null)
    return { ...NOBODY, ended: true, state: null, said: "The alert is no longer kept." };
  const isTaken = row.acked_at !== null;
  return {
    ended: right === null || isOver,
    state: row.state,
    acked_by: isTaken ? whoDid(store, id, "acknowledged") : null,
    acked_at: row.acked_at,
    said: said(row, was.accountId) ?? whoseWords(holderOf(store, id), now),
  };
}

const NOBODY = { acked_by: null, acked_at: null };

function said({ state, acked_by }: AlertRow, account: string): string | null {
  if (state === "open") return "It can't be acknowledged from here any more: open the alert.";
  return state === "acknowledged" && acked_by === account
    ? "You have it. Its ladder has stopped."
    : null;
}
