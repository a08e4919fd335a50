import type { Tx } from "../../../ground/store/store.ts";
import type { EventNames } from "../../../out/outbox/event-names.ts";
import { makePages, withdrawFromContact } from "../../../out/paging/pages.ts";
import type { AlertRow } from "../alert.ts";
import { emit } from "../emit.ts";
import { numberInPass, numbersIn } from "../ladder.ts";
import { pageFollowers, pagePeople } from "../personal.ts";
import { displayNameOf, nextSaid, pagedAlike, pagedBy, pagedSoFar } from "../said.ts";
import { writeTimeline } from "../timeline.ts";
import type { AlertEffect, AlertMoment } from "./turn.ts";

/** What wakes somebody: the event, whom the ladder pages next, and the pages. */

export type Performed<What extends AlertEffect["what"]> = Extract<AlertEffect, { what: What }> & {
  moment: AlertMoment;
};

/** `alert.opened`; a ladder step that is due at once comes after it (contract §5, Ladder). */
export function tellOpened(tx: Tx, row: AlertRow, of: Performed<"opened">): void {
  const { silenced } = of;
  const { rule } = of.moment;
  const eventRow = emit(tx, row, {
    event: "alert.opened",
    rule,
    said: () => ({
      ...nextOf(tx, row, of),
      ...(silenced !== undefined && { silenced }),
    }),
  });
  pageFollowers(tx, row, { event: "alert.opened", eventRow, rule });
}

function nextOf(tx: Tx, row: AlertRow, { moment: { rule } }: { moment: AlertMoment }): EventNames {
  return rule === null ? {} : nextSaid(tx, row, rule);
}

export function tellRenotified(tx: Tx, row: AlertRow, of: Performed<"renotified">): void {
  const { detail, people } = of;
  const { rule } = of.moment;
  const event = "alert.renotified";
  for (const { ways } of people ?? [])
    for (const { contactId } of ways) withdrawFromContact(tx, { alertId: row.id, contactId });
  writeTimeline(tx, row.id, { kind: "renotified", detail });
  const eventRow = emit(tx, row, {
    event,
    rule,
    said: () => ({
      told: pagedSoFar(tx, row),
      ...nextOf(tx, row, of),
      ...(detail["why"] === "reopened" && { again: true as const }),
    }),
  });
  if (people !== undefined) {
    makePages(tx, { event, eventRow, alertId: row.id }, people);
    return;
  }
  const accounts = JSON.parse(row.page_accounts) as string[];
  pagePeople(tx, row, { event, eventRow, accounts });
  pageFollowers(tx, row, { event, eventRow, rule });
}

/** Steps that reached nobody emit nothing and say so (contract §5, Ladder). `late` goes into the history as it is. */
export function tellEscalated(tx: Tx, row: AlertRow, of: Performed<"escalated">): void {
  const { span, late, moment } = of;
  const { paged, nobody } = of.climb;
  const { rule, reach, reachable } = moment;
  const numberOf = (step: number) => (rule === null ? step : numberInPass(rule, step));
  const steps = [...new Set(nobody.map(numberOf))];
  if (steps.length > 0)
    writeTimeline(tx, row.id, {
      kind: "reached_nobody",
      detail: { steps, ...(paged === null ? { top: true, ...late } : {}) },
    });
  if (paged === null || rule === null) return;
  const { accounts } = paged;
  const jumped = paged.span.first !== span.first;
  const level = numberOf(paged.span.last);
  const place = { projectId: row.project_id, level: row.level };
  const isLost =
    reachable.isKnown && !accounts.some((account) => reachable.reaches(account, place));
  writeTimeline(tx, row.id, {
    kind: "escalated",
    detail: {
      level,
      steps: numbersIn(rule, paged.span),
      accounts,
      why: jumped ? "nobody_reached_before" : span.repeat ? "repeat" : "step",
      ...(isLost && { unreached: true }),
      ...late,
    },
  });
  page(tx, row, {
    ...of,
    // Who reads a room heard it with the opening: whom the ladder pages now. That nothing reaches them is news.
    exceptToldRooms: of.withOpening && level === 1 && !isLost,
    accounts,
    said: () => ({
      paged: pagedBy(tx, rule, { ...paged.span, reach }),
      ...(isLost && { unreached: true as const }),
      ...nextOf(tx, row, of),
    }),
  });
  if (isLost)
    writeTimeline(tx, row.id, { kind: "unreachable", detail: { level, accounts, why: "no_way" } });
}

export function tellFallback(tx: Tx, row: AlertRow, of: Performed<"fallback">): void {
  const said = () => ({ paged: pagedAlike(tx, of.accounts, "fallback"), nobody: true as const });
  page(tx, row, { ...of, said });
}

export function tellAssigned(tx: Tx, row: AlertRow, of: Performed<"assigned">): void {
  const why = `assigned by ${displayNameOf(tx, of.by)}`;
  const said = () => ({ paged: pagedAlike(tx, of.accounts, why), ...nextOf(tx, row, of) });
  page(tx, row, { ...of, said });
}

function page(
  tx: Tx,
  row: AlertRow,
  of: {
    accounts: readonly string[];
    moment: AlertMoment;
    exceptToldRooms?: boolean;
    said: () => EventNames;
  },
): void {
  const event = "alert.escalated";
  const { said, exceptToldRooms } = of;
  const eventRow = emit(tx, row, { event, rule: of.moment.rule, said, exceptToldRooms });
  pagePeople(tx, row, { event, eventRow, accounts: of.accounts });
}
