import { contactKindList } from "../contacts/list.ts";
import { dutyAt } from "../oncall/duty.ts";
import type { EventBody } from "../outbox/event.ts";
import { pagesOfAlert } from "../paging/history.ts";
import { createReachable } from "../paging/reachable.ts";
import type { Reader } from "../store/store.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { type PhoneFact, type ReachEntry, reachReport, type StepFact } from "./reach-report.ts";
import { findRule } from "./rule-of.ts";
import { calledOf } from "./said.ts";
import { readTimeline, type TimelineEntry } from "./timeline.ts";

/** Who was told of an alert by what, and who wasn't and why; ladder and schedules as they stand now. Throws 404. */
export function readReach(reader: Reader, id: number): ReachEntry[] {
  const row = getAlertRow(reader, id);
  const timeline = readTimeline(reader, id);
  const reachable = createReachable(reader, contactKindList);
  return reachReport({
    steps: stepsOf(reader, row, timeline),
    paged: timeline.flatMap(({ kind, detail }) =>
      kind === "escalated" || kind === "fallback" ? (detail["accounts"] as string[]) : [],
    ),
    pages: pagesOfAlert(reader, id),
    phones: phonesOf(reader, id),
    nameOf: (account) => (isMember(reader, account) ? calledOf(reader, account) : null),
    hasPhone: (account) => reachable.hasPhone(account, row.project_id),
  });
}

/** A step counts from the alert's opening, and none runs before the one below it. */
function stepsOf(reader: Reader, row: AlertRow, timeline: readonly TimelineEntry[]): StepFact[] {
  let dueAt = row.ladder_from;
  return (findRule(reader, row.rule_id)?.escalations ?? []).map((step, i) => {
    const number = i + 1;
    dueAt = Math.max(dueAt, row.ladder_from + step.after_minutes * 60);
    const hasRun = number <= row.step;
    const ran = timeline.find(({ detail }) =>
      (detail["steps"] as number[] | undefined)?.includes(number),
    );
    const at = ran?.at ?? row.last_seen;
    const duties = step.schedules
      .map((name) => dutyAt(reader, { projectId: row.project_id, name }, at))
      .filter((duty) => duty !== null);
    const isAhead = !hasRun && row.state === "open";
    return { step, number, hasRun, dueAt: isAhead ? dueAt : null, duties };
  });
}

const PHONES = `SELECT d.event, d.status, d.attempts, d.created_at AS dueAt, d.finished_at AS endedAt, d.last_error AS error, v.body
  FROM deliveries d JOIN events v ON v.id = d.event_row JOIN integrations i ON i.id = d.integration_id
  WHERE d.alert_id = ? + 0 AND d.event IN ('alert.escalated', 'alert.renotified') AND (i.relay = 1 OR i.type = 'apns')
  ORDER BY d.id LIMIT 1000`;

function phonesOf(reader: Reader, alertId: number): PhoneFact[] {
  return reader
    .sql<[alertId: number], Omit<PhoneFact, "accounts"> & { body: string }>(PHONES)
    .all(alertId)
    .map(({ body, ...phone }) => ({
      ...phone,
      accounts: (JSON.parse(body) as EventBody).page_accounts,
    }));
}

function isMember(reader: Reader, account: string): boolean {
  return reader.sql<[id: string]>("SELECT 1 FROM accounts WHERE id = ?").get(account) !== undefined;
}
