import { ownValue } from "../../ground/kit/own-value.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { Inhibitor, Subject } from "../quiet/decide.ts";

/** Alerts that stand above another: of rules that silence its rule. */

/** Of each such rule the newest that has the subject's identifiers: no other would hold it longer. */
export function inhibitorOf(
  reader: Reader,
  subject: Pick<Subject, "projectId" | "identifiers">,
  rule: Pick<StoredRule, "silenced_by"> | null,
): Inhibitor[] {
  return (rule?.silenced_by ?? []).flatMap((of) => {
    const values = valuesOf(subject.identifiers, of.equal);
    if (values === null) return [];
    return standingOf(reader, subject.projectId, of).get(values) ?? [];
  });
}

type Named = StoredRule["silenced_by"][number];
type ByValues = ReadonlyMap<string, Inhibitor>;

/** Null where one is lacking: that says nothing of two alerts being about one thing. */
function valuesOf(identifiers: Subject["identifiers"], names: readonly string[]): string | null {
  const values = names.map((name) => ownValue(identifiers, name));
  return values.includes(undefined) ? null : JSON.stringify(values);
}

/** Read once in a transaction as long as the same alerts stand: many open at once in a storm. */
const known = new WeakMap<Reader, Map<string, { which: string; alerts: ByValues }>>();

const WHICH = `SELECT count(*) || ' ' || total(id) || ' ' || total(id * id) FROM alerts
  WHERE project_id = ? AND rule_id = ? AND state <> 'resolved'`;

function standingOf(reader: Reader, projectId: number, named: Named): ByValues {
  const find = reader.sql<[project: number, name: string], number>(RULE).pluck();
  const ruleId = find.get(projectId, named.rule);
  if (ruleId === undefined) return new Map();
  const count = reader.sql<[project: number, rule: number], string>(WHICH).pluck();
  const which = count.get(projectId, ruleId) ?? "";
  const kept = known.get(reader) ?? new Map<string, { which: string; alerts: ByValues }>();
  known.set(reader, kept);
  const key = JSON.stringify([ruleId, named.equal]);
  const before = kept.get(key);
  if (before?.which === which) return before.alerts;
  const alerts = readStanding(reader, { projectId, ruleId }, named);
  // A store lives on, and what is undone may come again with other values.
  if ("at" in reader) kept.set(key, { which, alerts });
  return alerts;
}

const RULE = "SELECT id FROM rules WHERE project_id = ? AND name = ?";
const ABOVE = `SELECT id, identifiers, opened_at FROM alerts
  WHERE project_id = ? AND rule_id = ? AND state <> 'resolved' AND drill = 0 ORDER BY id DESC LIMIT 1000`;

/** The newest thousand, or the newest where any will do. */
function readStanding(
  reader: Reader,
  { projectId, ruleId }: { projectId: number; ruleId: number },
  { rule, equal }: Named,
): ByValues {
  const rows = reader.sql<
    [project: number, rule: number],
    { id: number; identifiers: string; opened_at: number }
  >(ABOVE);
  const found = new Map<string, Inhibitor>();
  for (const { id, identifiers: text, opened_at: openedAt } of rows.iterate(projectId, ruleId)) {
    const identifiers = JSON.parse(text) as Record<string, string>;
    const values = valuesOf(identifiers, equal);
    if (values !== null && !found.has(values))
      found.set(values, { id, rule, identifiers, openedAt, equal });
    if (equal.length === 0) break;
  }
  return found;
}
