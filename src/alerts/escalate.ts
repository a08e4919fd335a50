import type { StoredRule } from "../projects/rule.ts";
import { takeSequence } from "../store/meta.ts";
import type { Tx } from "../store/store.ts";
import type { AlertRow } from "./alert.ts";
import { emit } from "./emit.ts";
import type { Climb, Span } from "./ladder.ts";
import { writeTimeline } from "./timeline.ts";

const PAGED =
  "UPDATE alerts SET escalation_level = ?, page_accounts = ?, updated_seq = ? WHERE id = ?";

/**
 * What a ladder's run leaves behind: the level, whom it pages, the history, and `alert.escalated`. Steps
 * that reached nobody emit nothing and say so (decisions §5, Ladder). `late` goes into the history as it is.
 */
export function escalate(
  tx: Tx,
  row: AlertRow,
  run: { rule: StoredRule; span: Span; climb: Climb; late: Record<string, unknown> },
): void {
  const { rule, span, climb, late } = run;
  const { paged, nobody } = climb;
  if (paged === null || nobody.length > 0)
    writeTimeline(tx, row.id, {
      kind: "reached_nobody",
      detail: { steps: nobody, ...(paged === null ? { top: true, ...late } : {}) },
    });
  if (paged === null) return;
  tx.sql(PAGED).run(
    paged.span.last,
    JSON.stringify(paged.accounts),
    takeSequence(tx, "updated_seq"),
    row.id,
  );
  const jumped = paged.span.first > span.last;
  const steps = Array.from(
    { length: paged.span.last - paged.span.first + 1 },
    (_, i) => paged.span.first + i,
  );
  writeTimeline(tx, row.id, {
    kind: "escalated",
    detail: {
      level: paged.span.last,
      steps,
      accounts: paged.accounts,
      why: jumped ? "nobody_reached_before" : span.repeat ? "repeat" : "step",
      ...late,
    },
  });
  emit(
    tx,
    {
      ...row,
      escalation_level: paged.span.last,
      page_accounts: JSON.stringify(paged.accounts),
    },
    { event: "alert.escalated", actions: rule.actions },
  );
}
