import type { Reader, Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { Inhibitor, Subject } from "../quiet/decide.ts";
import { surely } from "../quiet/labels.ts";
import { type LabelColumns, labelledOf } from "./labels.ts";

/** Alerts that stand above another: of rules that silence its rule. */

/** Of each such rule the newest that surely is about the same: no other would hold it longer. */
export function inhibitorOf(
  reader: Reader,
  subject: Pick<Subject, "projectId" | "identifiers" | "labelled">,
  rule: Pick<StoredRule, "silenced_by"> | null,
): Inhibitor[] {
  return (rule?.silenced_by ?? []).flatMap((of) => {
    const values = surely(subject, of.equal);
    if (values === null) return [];
    return standingOf(reader, subject.projectId, of)?.byValues.get(values) ?? [];
  });
}

type Named = StoredRule["silenced_by"][number];

/** A rule's unresolved alerts, by their values of some labels. */
interface Standing {
  ruleId: number;
  equal: readonly string[];
  /** The newest with each. */
  byValues: Map<string, Inhibitor>;
  /** Of each alert that was looked at. */
  ofAlert: Map<number, string | null>;
}

/** Read once in a transaction as long as the same alerts stand and say the same: many open at once in a storm. */
const known = new WeakMap<Reader, Map<string, Standing & { which: string }>>();

const WHICH = `SELECT count(*) || ' ' || total(id) || ' ' || total(id * id) FROM alerts
  WHERE project_id = ? AND rule_id = ? AND state <> 'resolved'`;

function standingOf(reader: Reader, projectId: number, named: Named): Standing | null {
  const find = reader.sql<[project: number, name: string], number>(RULE).pluck();
  const ruleId = find.get(projectId, named.rule);
  if (ruleId === undefined) return null;
  const count = reader.sql<[project: number, rule: number], string>(WHICH).pluck();
  const which = count.get(projectId, ruleId) ?? "";
  const kept = known.getOrInsertComputed(reader, () => new Map());
  const key = JSON.stringify([ruleId, named.equal]);
  const before = kept.get(key);
  if (before?.which === which) return before;
  const standing = readStanding(reader, { projectId, ruleId }, named);
  // A store lives on, and what is undone may come again with other values.
  if ("at" in reader) kept.set(key, { which, ...standing });
  return standing;
}

/** An alert may say something else of itself from now on. */
export function forgetStanding(
  tx: Tx,
  { id, rule_id, ...said }: StandingRow & { rule_id: number },
) {
  const kept = known.get(tx);
  for (const [key, { ruleId, equal, ofAlert }] of kept ?? [])
    if (ruleId === rule_id && ofAlert.has(id) && ofAlert.get(id) !== surely(saidBy(said), equal))
      kept?.delete(key);
}

const RULE = "SELECT id FROM rules WHERE project_id = ? AND name = ?";
const ABOVE = `SELECT id, identifiers, opened_at, labels, varied, varied_more FROM alerts
  WHERE project_id = ? AND rule_id = ? AND state <> 'resolved' AND drill = 0 ORDER BY id DESC LIMIT 1000`;

type StandingRow = LabelColumns & { id: number; identifiers: string };

/** What an alert says of itself, by its row. */
export function saidBy(row: Omit<StandingRow, "id">): Pick<Subject, "identifiers" | "labelled"> {
  return {
    identifiers: JSON.parse(row.identifiers) as Record<string, string>,
    labelled: () => labelledOf(row),
  };
}

/** The newest thousand, or the newest where any will do. */
function readStanding(
  reader: Reader,
  { projectId, ruleId }: { projectId: number; ruleId: number },
  { rule, equal }: Named,
): Standing {
  const rows = reader.sql<[project: number, rule: number], StandingRow & { opened_at: number }>(
    ABOVE,
  );
  const standing: Standing = { ruleId, equal, byValues: new Map(), ofAlert: new Map() };
  for (const row of rows.iterate(projectId, ruleId)) {
    const values = surely(saidBy(row), equal);
    standing.ofAlert.set(row.id, values);
    if (values !== null && !standing.byValues.has(values))
      standing.byValues.set(values, { id: row.id, rule, openedAt: row.opened_at });
    if (equal.length === 0) break;
  }
  return standing;
}
