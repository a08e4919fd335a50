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

/** What its history and those of alerts that became one with it say of who was paged. */
const PAGED = `WITH RECURSIVE one(id) AS (SELECT ? UNION
    SELECT CAST(json_extract(t.detail, '$.alert') AS INTEGER) FROM one JOIN timeline t ON t.alert_id = one.id AND t.kind = 'merged')
  SELECT alert_id AS alert, at, kind, detail FROM one JOIN timeline ON alert_id = one.id
  WHERE kind IN ('escalated', 'fallback', 'assigned', 'merged') ORDER BY timeline.id DESC LIMIT 1000`;

interface Line {
  alert: number;
  at: number;
  kind: string;
  detail: string;
}

interface Paged {
  account: string;
  /** When they were paged last, Unix seconds. */
  at: number;
}

/** Whom the alert, and each that became one with it, has paged since it was given to somebody alone, the latest first. */
function pagedBefore(tx: Tx, id: number): Paged[] {
  const last = new Map<string, number>();
  const given = new Set<number>();
  for (const { alert, at, kind, detail } of tx.sql<[id: number], Line>(PAGED).all(id)) {
    const said = JSON.parse(detail) as {
      accounts?: string[];
      keep_ladder?: boolean;
      alert?: string;
    };
    if (given.has(alert)) {
      // What had become one with it before was given with it.
      if (kind === "merged") given.add(Number(said.alert));
      continue;
    }
    for (const account of said.accounts ?? []) if (!last.has(account)) last.set(account, at);
    if (kind === "assigned" && said.keep_ladder !== true) given.add(alert);
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
