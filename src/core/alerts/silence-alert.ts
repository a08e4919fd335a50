import type { Tx } from "../../ground/store/store.ts";
import type { LabelCondition } from "../projects/condition.ts";
import { CRITICAL, LONGEST_QUIET } from "../quiet/decide.ts";
import type { SilenceWrite } from "../quiet/silence.ts";
import { refuseSilence } from "../quiet/silences.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { silencedAt } from "./hold.ts";
import { findRule } from "./rule-of.ts";
import { makeSilence } from "./silencing.ts";
import { mustStand } from "./verbs.ts";

/**
 * Silences what an alert is about, its rule, template and identifiers, and where they are given these labels, until then;
 * open ones are marked at once. The silence's id; null where it is quiet for as long already. Throws 404; 409 alert_resolved; 422 too_many, invalid_silence.
 */
export function silenceAlert(
  tx: Tx,
  id: number,
  {
    until,
    reason,
    accountId,
    labels = [],
  }: { until: number; reason: string; accountId: string; labels?: readonly LabelCondition[] },
): string | null {
  const row = getAlertRow(tx, id);
  mustStand(row);
  if (until <= tx.at) refuseSilence("until", "has passed");
  if (until > tx.at + LONGEST_QUIET) refuseSilence("until", "must be at most 30 days ahead");
  const rule = findRule(tx, row.rule_id);
  const before = silencedAt(tx, row, { rule, at: tx.at });
  if (before !== null && before.until >= until) return null;
  return makeSilence(tx, {
    createdBy: accountId,
    write: {
      ...silenceOfAlert(row, { starts_at: tx.at, ends_at: until, reason }),
      labels: [...labels],
    },
  }).id;
}

/** A silence of what an alert counts: its rule, template and identifiers. Pure. */
export function silenceOfAlert(
  row: Pick<AlertRow, "project" | "rule" | "template_id" | "identifiers" | "level">,
  of: { starts_at?: number; ends_at: number; reason: string },
): SilenceWrite {
  return {
    project: row.project,
    ...of,
    match: {
      rule: row.rule,
      template_id: row.template_id,
      sources: [],
      below_level: null,
      identifiers: JSON.parse(row.identifiers) as Record<string, string>,
    },
    conditions: [],
    labels: [],
    critical: row.level >= CRITICAL,
    all: false,
    kind: "silence",
    name: "",
    repeat: "none",
    timezone: "UTC",
    repeat_until: null,
    tell_author: false,
  };
}
