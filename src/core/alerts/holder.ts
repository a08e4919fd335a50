import type { Reader } from "../../ground/store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { displayNameOf } from "./said.ts";
import type { TimelineEntry } from "./timeline.ts";

/** Who has an alert, or how it ended: what whoever answers a page is told. */
export type AlertHolder = ReturnType<typeof holderOf>;

/** How an alert stands. Throws 404. */
export function holderOf(reader: Reader, id: number) {
  const row = getAlertRow(reader, id);
  return {
    alertId: row.id,
    project: row.project,
    rule: row.rule,
    message: row.last_message,
    level: row.level,
    state: row.state,
    /** Who acknowledged or resolved it, by name; null where nobody did. */
    by: row.state === "open" ? null : whoDid(reader, id, row.state),
    /** Unix seconds of what made it so. */
    at: sinceWhen(row),
  };
}

function sinceWhen({ state, opened_at, acked_at, resolved_at }: AlertRow): number {
  const at = { open: opened_at, acknowledged: acked_at, resolved: resolved_at }[state];
  return at ?? opened_at;
}

interface Did {
  account_id: string | null;
  detail: string;
}

const LATEST = `SELECT account_id, detail FROM timeline
  WHERE alert_id = ? AND kind = ? ORDER BY id DESC LIMIT 1`;

/** Who did this to an alert last: a person's name, or its source; null where it ended by itself. */
export function whoDid(
  reader: Reader,
  id: number,
  kind: "acknowledged" | "resolved",
): string | null {
  const last = reader.sql<[id: number, kind: string], Did>(LATEST).get(id, kind);
  if (last === undefined) return null;
  const detail = JSON.parse(last.detail) as Record<string, unknown>;
  return doerOf({ ...last, detail }, (account) => displayNameOf(reader, account));
}

/** Who did what an entry of the history tells: a person's name, or the alert's source; null where nobody did. */
export function doerOf(
  { account_id, detail }: Pick<TimelineEntry, "account_id" | "detail">,
  nameOf: (account: string) => string,
): string | null {
  if (account_id !== null) return nameOf(account_id);
  const { source } = detail as { source?: string };
  return source === undefined ? null : `its source ${source}`;
}

/** The alert that stands for one that was found to be the same as another: itself where it wasn't. */
export function livingAlert(reader: Reader, id: number): number {
  let living = id;
  for (let hops = 0; hops < MOST_HOPS; hops++) {
    const last = reader.sql<[id: number, kind: string], Did>(LATEST).get(living, "resolved");
    const { reason, into = "" } = JSON.parse(last?.detail ?? "{}") as Record<string, string>;
    const next = reason === "merged" ? Number(into) : Number.NaN;
    const isThere = reader.sql<[id: number]>("SELECT 1 FROM alerts WHERE id = ?").get(next);
    if (!Number.isSafeInteger(next) || isThere === undefined) return living;
    living = next;
  }
  return living;
}

/** Alerts that were found to be one, one after another. */
const MOST_HOPS = 100;
