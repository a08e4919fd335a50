import type { Tx } from "../../ground/store/store.ts";
import type { PagedPerson } from "../../out/paging/pages.ts";
import type { AlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { happen } from "./life/happen.ts";
import { reachableIn } from "./personal.ts";
import { recheckAlert } from "./recheck.ts";

/** An alert that stands is of a higher level now: what that opens to be told is told. All else of it is written before. */
export function raiseLevel(tx: Tx, before: AlertRow, level: number): void {
  // By itself: lists are in order of it, and it seldom changes. What is worse than it was may no longer be kept quiet.
  tellWorse(tx, recheckAlert(tx, change(tx, before, { level })), before.level);
}

/**
 * Some ways to people are only for what is bad enough. Whoever the alert paged while it was less bad is paged now by those
 * that take it since, once; nobody else is told anew but the channels. `told`: who was told of it just now.
 */
export function tellWorse(tx: Tx, row: AlertRow, from: number, told: readonly string[] = []): void {
  if (row.state !== "open" || row.untold === 1 || !reachableIn(tx).hasContacts) return;
  const people = pagedBefore(tx, row.id)
    .filter(({ account }) => !told.includes(account))
    .map((paged) => opened(tx, row, { ...paged, from }))
    .filter(({ ways }) => ways.length > 0);
  if (people.length === 0) return;
  happen(tx, row, { what: "worse", from, people });
}

const PAGED = `SELECT at, kind, detail FROM timeline
  WHERE alert_id = ? AND kind IN ('escalated', 'fallback', 'assigned') ORDER BY id DESC LIMIT 100`;

interface Paged {
  account: string;
  /** When they were paged last, Unix seconds. */
  at: number;
}

/** Whom the alert has paged since it was given to somebody alone, the latest first. */
function pagedBefore(tx: Tx, id: number): Paged[] {
  const rows = tx.sql<[id: number], { at: number; kind: string; detail: string }>(PAGED).all(id);
  const last = new Map<string, number>();
  for (const { at, kind, detail } of rows) {
    const said = JSON.parse(detail) as { accounts?: string[]; keep_ladder?: boolean };
    for (const account of said.accounts ?? []) if (!last.has(account)) last.set(account, at);
    if (kind === "assigned" && said.keep_ladder !== true) break;
  }
  return [...last].map(([account, at]) => ({ account, at }));
}

/** A person's ways that the new level opens, or opens sooner; each waits as it would have since they were paged. */
function opened(
  tx: Tx,
  row: AlertRow,
  { account, at, from }: Paged & { from: number },
): PagedPerson {
  const reachable = reachableIn(tx);
  const before = new Map(reachable.ways(account, from).map((way) => [way.contactId, way.after]));
  const gone = Math.max(0, tx.at - at);
  const ways = reachable
    .ways(account, row.level)
    .filter(({ contactId, after }) => {
      const usual = before.get(contactId);
      return usual === undefined || (after < usual && gone < usual);
    })
    .map(({ contactId, after }) => ({ contactId, after: Math.max(0, after - gone) }));
  return { account, ways };
}
