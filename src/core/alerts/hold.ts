import type { Reader, Tx } from "../../ground/store/store.ts";
import { patternTimeOf } from "../projects/pattern.ts";
import type { StoredRule } from "../projects/rule.ts";
import {
  decideSilenced,
  matchingSilences,
  type ReadySilence,
  type SilencedBy,
  type Subject,
} from "../quiet/decide.ts";
import { begunSilences, silencesWithin } from "../quiet/rows.ts";
import type { AlertRow } from "./alert.ts";
import { inhibitorOf } from "./inhibitor.ts";
import { labelledOf } from "./labels.ts";

/** What keeps an alert quiet. */

const known = new WeakMap<Tx, ReadySilence[]>();

/** Silences that aren't over, looked up once for each transaction. */
export function silencesIn(tx: Tx): readonly ReadySilence[] {
  return known.getOrInsertComputed(tx, () =>
    silencesWithin(tx, { from: tx.at, until: Number.MAX_SAFE_INTEGER }),
  );
}

/** What keeps the alert quiet at this transaction's time; null: nothing. */
export function silencedIn(tx: Tx, row: AlertRow, rule: StoredRule | null): SilencedBy | null {
  return quietBy(tx, row, { rule, silences: silencesIn(tx), at: tx.at });
}

/** As `silencedIn`, of a moment outside a transaction. */
export function silencedAt(
  reader: Reader,
  row: AlertRow,
  { rule, at }: { rule: StoredRule | null; at: number },
): SilencedBy | null {
  return quietBy(reader, row, { rule, silences: begunSilences(reader, at), at });
}

/** As `silencedIn`, by these silences. */
export function quietBy(
  reader: Reader,
  row: AlertRow,
  of: { rule: StoredRule | null; silences: readonly ReadySilence[]; at: number },
): SilencedBy | null {
  if (of.silences.length === 0 && !of.rule?.silenced_by.length) return null;
  const subject = subjectOf(row);
  const above = inhibitorOf(reader, subject, of.rule);
  const silences = matchingSilences(subject, { ...of, time: patternTimeOf(reader) });
  return decideSilenced({ silences, above }, of.at);
}

/**
 * What keeps the alert quiet at any time, by these silences and the alerts that stand above it now; null: nothing does, as
 * things stand.
 */
export function quietAhead(
  reader: Reader,
  row: AlertRow,
  of: { rule: StoredRule; silences: readonly ReadySilence[] },
): ((at: number) => SilencedBy | null) | null {
  if (of.silences.length === 0 && !of.rule?.silenced_by.length) return null;
  const subject = subjectOf(row);
  const above = inhibitorOf(reader, subject, of.rule);
  const silences = matchingSilences(subject, { ...of, time: patternTimeOf(reader) });
  if (silences.length === 0 && above.length === 0) return null;
  return (at) => decideSilenced({ silences, above }, at);
}

function subjectOf(row: AlertRow): Subject {
  return {
    projectId: row.project_id,
    rule: row.rule,
    templateId: row.template_id,
    identifiers: JSON.parse(row.identifiers) as Record<string, string>,
    source: row.source,
    level: row.level,
    labelled: () => labelledOf(row),
  };
}
