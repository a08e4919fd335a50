import type { Tx } from "../../ground/store/store.ts";
import { surely } from "../quiet/labels.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { change } from "./apply.ts";
import { silencesIn } from "./hold.ts";
import { forgetStanding, saidBy } from "./inhibitor.ts";
import type { LabelColumns } from "./labels.ts";
import { recheckHeldBy } from "./many.ts";

/** One alert is worse than it was, or not what it was: where its news is held back, it is looked at again, at once. */
export function recheckAlert(tx: Tx, row: AlertRow): AlertRow {
  if (row.silenced_by === null) return row;
  tx.note({ topic: "due", at: tx.at });
  return change(tx, row, { held_until: tx.at, due_at: tx.at });
}

const WATCHED = `SELECT id, project_id, rule, rule_id, silenced_by, identifiers, labels, varied, varied_more,
    EXISTS (SELECT 1 FROM alerts WHERE silenced_by = 'alert:' || a.id) AS holds FROM alerts a WHERE id = ?`;
type Watched = Pick<
  AlertRow,
  "id" | "project_id" | "rule" | "rule_id" | "silenced_by" | "identifiers" | keyof LabelColumns
> & { holds: number };

/**
 * It is about to say something else of itself: what holds it by labels may no longer, nor may it hold what it held. The
 * look comes after what this transaction writes.
 */
export function labelsChange(tx: Tx, id: number, now: LabelColumns): void {
  const before = tx.sql<[id: number], Watched>(WATCHED).get(id);
  if (before === undefined) return;
  const { silenced_by: by } = before;
  if (by !== null && (by.startsWith("alert:") || isByLabels(tx, by)))
    recheckAlert(tx, getAlertRow(tx, id));
  const said = { ...before, ...now };
  const isOther = (equal: readonly string[]) =>
    surely(saidBy(before), equal) !== surely(saidBy(said), equal);
  if (before.holds === 1 && equalsOf(tx, before).some(isOther)) recheckHeldBy(tx, `alert:${id}`);
  forgetStanding(tx, said);
}

const isByLabels = (tx: Tx, silence: string): boolean =>
  silencesIn(tx).some(({ id, byLabels }) => byLabels && id === silence);

const EQUALS = `SELECT s.value ->> 'equal' FROM rules r, json_each(r.body, '$.silenced_by') s
  WHERE r.project_id = ? AND s.value ->> 'rule' = ?`;
const known = new WeakMap<Tx, Map<number, string[][]>>();

/** The labels by which alerts of this one's rule hold others. */
function equalsOf(tx: Tx, { project_id, rule, rule_id }: Watched): readonly string[][] {
  const kept = known.getOrInsertComputed(tx, () => new Map());
  let equals = kept.get(rule_id);
  if (equals === undefined) {
    const read = tx.sql<[project: number, rule: string], string>(EQUALS).pluck();
    equals = read.all(project_id, rule).map((text) => JSON.parse(text) as string[]);
    kept.set(rule_id, equals);
  }
  return equals;
}

/** Events of another source went into it: it is no longer one source's. */
export function isOfSeveral(tx: Tx, id: number): void {
  recheckAlert(tx, change(tx, getAlertRow(tx, id), { source: null }));
}
