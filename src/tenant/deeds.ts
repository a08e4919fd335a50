import * as z from "zod";
import type { AlertRow } from "../core/alerts/alert.ts";
import { addNote } from "../core/alerts/notes.ts";
import { acknowledge, resolve, snooze, unacknowledge } from "../core/alerts/verbs.ts";
import { mayConfirm } from "../ground/store/durable.ts";
import type { Store, Tx } from "../ground/store/store.ts";

/** What a person did to an alert, as it is noted for another machine. */
export const deed = z.object({
  alert: z.int(),
  rule: z.int(),
  key: z.string(),
  kind: z.enum(["acknowledged", "unacknowledged", "snoozed", "resolved", "noted"]),
  by: z.string(),
  at: z.int(),
  detail: z.looseObject({
    via: z.string().optional(),
    until: z.number().optional(),
    text: z.string().optional(),
  }),
});
export type Deed = z.output<typeof deed>;

interface DeedRow extends Omit<Deed, "detail"> {
  id: number;
  detail: string;
}

const LAST = "SELECT coalesce(max(id), 0) FROM timeline";
const SINCE = `SELECT t.id, t.alert_id AS alert, a.rule_id AS rule, a.alert_key AS key, t.kind, t.account_id AS "by", t.at,
    t.detail
  FROM timeline t JOIN alerts a ON a.id = t.alert_id
  WHERE t.id > ? AND t.account_id IS NOT NULL AND t.kind IN (${deed.shape.kind.options.map((kind) => `'${kind}'`).join(", ")})
  ORDER BY t.id`;

/** From now on what people do to alerts is noted before they hear that it was done, where this disk alone has it. */
export function noteDeeds(store: Store): void {
  if (store.keeper === null) return;
  const last = () => store.sql<[], number>(LAST).pluck().get() ?? 0;
  let seen = last();
  store.onCommit((notes) => {
    if (!notes.some((note) => note.topic === "alert")) return;
    const rows = store.sql<[after: number], DeedRow>(SINCE).all(seen);
    if (rows.length === 0) return;
    seen = last();
    const deeds = rows.map(({ id: _, detail, ...rest }) => ({
      deed: { ...rest, detail: JSON.parse(detail) as unknown },
    }));
    // Whoever did it isn't told that it failed: it stands here.
    void mayConfirm(store, () => deeds)?.catch(() => {});
  });
}

const BY_ID = "SELECT * FROM alerts WHERE id = ? AND rule_id = ? AND alert_key = ?";
const BY_KEY =
  "SELECT * FROM alerts WHERE rule_id = ? AND alert_key = ? AND state <> 'resolved' ORDER BY id DESC LIMIT 1";
const SINCE_THEN = `SELECT 1 FROM timeline
  WHERE alert_id = ? AND id <= ? AND at > ? AND account_id IS NOT NULL LIMIT 1`;

/**
 * Does what a person did on a machine that had this disk alone: to the same alert, or to the one that stands for the same
 * trouble. `before`: the last line of any history when the handing over began. What is in doubt isn't done: where somebody
 * has done something to the alert since, or is gone, or where it came again.
 */
export function repeatDeed(tx: Tx, what: Deed, before: number): void {
  const { alert, rule, key, kind, by, at, detail } = what;
  const row =
    tx.sql<[number, number, string], AlertRow>(BY_ID).get(alert, rule, key) ??
    tx.sql<[number, string], AlertRow>(BY_KEY).get(rule, key);
  const isPerson = tx.sql<[string], unknown>("SELECT 1 FROM accounts WHERE id = ?").get(by);
  if (row === undefined || isPerson === undefined) return;
  if (kind === "noted") {
    if (detail.text !== undefined) addNote(tx, row.id, { accountId: by, text: detail.text });
    return;
  }
  const isLater = tx.sql<[number, number, number], unknown>(SINCE_THEN).get(row.id, before, at);
  if (row.state === "resolved" || isLater !== undefined) return;
  if (kind === "acknowledged") acknowledge(tx, row.id, by, detail.via);
  if (kind === "unacknowledged") unacknowledge(tx, row.id, by);
  if (kind === "snoozed" && (detail.until ?? 0) > tx.at)
    snooze(tx, row.id, { until: detail.until ?? 0, accountId: by });
  if (kind === "resolved") resolve(tx, row.id, { accountId: by, via: detail.via });
}
