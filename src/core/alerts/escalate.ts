import type { Tx } from "../../ground/store/store.ts";
import type { StoredRule } from "../projects/rule.ts";
import type { AlertRow } from "./alert.ts";
import { emit } from "./emit.ts";
import type { Climb, Span } from "./ladder.ts";
import { pagePeople, reachableIn } from "./personal.ts";
import type { Reach } from "./reach.ts";
import { nextSaid, pagedBy } from "./said.ts";
import { writeTimeline } from "./timeline.ts";
import { timersOf } from "./timers.ts";

/**
 * Tells of a ladder's run that `row` already shows: the history, and `alert.escalated`. Steps that reached
 * nobody emit nothing and say so (contract §5, Ladder). `late` goes into the history as it is.
 */
export function escalate(
  tx: Tx,
  row: AlertRow,
  run: {
    rule: StoredRule;
    span: Span;
    climb: Climb;
    late: Record<string, unknown>;
    reach: Reach;
  },
): void {
  const { rule, span, climb, late, reach } = run;
  const { paged, nobody } = climb;
  if (paged === null || nobody.length > 0)
    writeTimeline(tx, row.id, {
      kind: "reached_nobody",
      detail: { steps: nobody, ...(paged === null ? { top: true, ...late } : {}) },
    });
  if (paged === null) return;
  const jumped = paged.span.first !== span.first;
  writeTimeline(tx, row.id, {
    kind: "escalated",
    detail: {
      level: paged.span.last,
      steps: stepsOf(paged.span),
      accounts: paged.accounts,
      why: jumped ? "nobody_reached_before" : span.repeat ? "repeat" : "step",
      ...late,
    },
  });
  const { accounts } = paged;
  const reachable = reachableIn(tx);
  const of = { projectId: row.project_id, level: row.level };
  const isLost = reachable.isKnown && !accounts.some((account) => reachable.reaches(account, of));
  const eventRow = emit(tx, row, {
    event: "alert.escalated",
    rule,
    said: () => ({
      paged: pagedBy(tx, rule, { ...paged.span, reach }),
      ...(isLost && { unreached: true as const }),
      ...nextSaid(tx, row, { rule, timers: timersOf(row) }),
    }),
  });
  pagePeople(tx, row, { event: "alert.escalated", eventRow, accounts });
  if (isLost)
    writeTimeline(tx, row.id, {
      kind: "unreachable",
      detail: { level: paged.span.last, accounts, why: "no_way" },
    });
}

function stepsOf({ first, last }: { first: number; last: number }): number[] {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}
