import type { Reader } from "../../ground/store/store.ts";
import type { EventBody } from "../../out/outbox/event.ts";
import { PAGES_PHONES, PUSH_EVENTS } from "../../out/outbox/phones.ts";
import { pagesOfAlert } from "../../out/paging/history.ts";
import { createReachable } from "../../out/paging/reachable.ts";
import { dutyAt } from "../oncall/duty.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { secondsOf } from "./ladder.ts";
import {
  type ChannelFact,
  type PhoneFact,
  type ReachEntry,
  reachReport,
  type StepFact,
} from "./reach-report.ts";
import { findRule } from "./rule-of.ts";
import { stepsAhead } from "./rungs-ahead.ts";
import { displayNameOf } from "./said.ts";
import { readTimeline, type TimelineEntry } from "./timeline.ts";

/** Who was told of an alert by what, and who wasn't and why; ladder and schedules as they stand `now`. Throws 404. */
export function readReach(reader: Reader, id: number, now: number): ReachEntry[] {
  const row = getAlertRow(reader, id);
  const timeline = readTimeline(reader, id);
  const reachable = createReachable(reader);
  const of = { projectId: row.project_id, level: row.level };
  return reachReport({
    steps: stepsOf(reader, row, { timeline, now }),
    paged: timeline.flatMap(({ kind, detail }) =>
      kind === "escalated" || kind === "fallback" ? (detail["accounts"] as string[]) : [],
    ),
    assigned: new Map(
      timeline
        .flatMap(({ kind, detail }) =>
          kind === "assigned" ? (detail["accounts"] as string[]) : [],
        )
        .map((account) => [account, reachable.reaches(account, of)]),
    ),
    pages: pagesOfAlert(reader, id),
    phones: phonesOf(reader, id),
    channels: channelsOf(reader, row),
    events: reader.sql<[alertId: number], { event: string; at: number }>(LOUD).all(id),
    held: row.silenced_by === null ? null : { by: row.silenced_by, until: row.held_until },
    repeatAt: repeatOf(row, timeline),
    nameOf: (account) => (isMember(reader, account) ? displayNameOf(reader, account) : null),
    hasPhone: (account) => reachable.hasPhone(account, row.project_id),
  });
}

/** Who had duty when a step ran, or will have it when it runs. */
function stepsOf(
  reader: Reader,
  row: AlertRow,
  { timeline, now }: { timeline: readonly TimelineEntry[]; now: number },
): StepFact[] {
  const ladder = findRule(reader, row.rule_id)?.escalations ?? [];
  const isGoingOn = row.state === "open" && row.step_at !== null;
  const ahead = isGoingOn ? stepsAhead(reader, row, now) : null;
  return ladder.map((step, i) => {
    const number = i + 1;
    const far = row.ladder_from + secondsOf(ladder, number);
    const hasRun = number <= row.step;
    const ran = timeline.find(({ detail }) =>
      (detail["steps"] as number[] | undefined)?.includes(number),
    );
    const isOut = row.drill !== 0 && far >= (row.expires_at ?? Number.POSITIVE_INFINITY);
    const dueAt = hasRun || ahead === null || isOut ? null : (ahead.get(number) ?? far);
    const at = ran?.at ?? dueAt ?? row.last_seen;
    const duties = step.schedules
      .map((name) => dutyAt(reader, { projectId: row.project_id, name }, at))
      .filter((duty) => duty !== null);
    return { step, number, hasRun, dueAt, duties };
  });
}

const PHONES = `SELECT d.event, d.status, d.attempts, d.created_at AS dueAt, d.finished_at AS endedAt, d.last_error AS error, v.body
  FROM deliveries d JOIN events v ON v.id = d.event_row
  WHERE d.alert_id = ? AND d.event IN ${PUSH_EVENTS}
    AND d.integration_id IN (SELECT id FROM integrations WHERE ${PAGES_PHONES})
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

/** The alert's kinds of event that call for somebody. */
const LOUD = `SELECT event, min(timestamp) AS at FROM events WHERE alert_id = ?
  AND event IN ('alert.opened', 'alert.escalated', 'alert.renotified') GROUP BY event ORDER BY min(id)`;
const CHANNELS = `SELECT id, iif(name = '', type, name) AS name, type, enabled, event_filter AS filter, created_at AS createdAt,
    last_error AS error FROM integrations WHERE relay = 0 AND type <> 'apns' AND (project_id = :of OR (shared = 1
    AND NOT EXISTS (SELECT 1 FROM json_each(except_projects) WHERE value = :of))) ORDER BY name, id LIMIT 500`;
const SENT = `SELECT integration_id AS id, event, status, attempts, created_at AS dueAt, finished_at AS endedAt, last_error AS error
  FROM deliveries WHERE alert_id = ? AND event IN ('alert.opened', 'alert.escalated', 'alert.renotified') ORDER BY id LIMIT 1000`;

type Sent = ChannelFact["sent"][number] & { id: string };

/** The channels that hear of a project's alerts, phones left out; `sent` is empty. */
export function channelsOfProject(reader: Reader, projectId: number): ChannelFact[] {
  return reader
    .sql<{ of: number }, Omit<ChannelFact, "enabled" | "sent"> & { enabled: number }>(CHANNELS)
    .all({ of: projectId })
    .map((channel) => ({ ...channel, enabled: channel.enabled !== 0, sent: [] }));
}

function channelsOf(reader: Reader, row: AlertRow): ChannelFact[] {
  const all = reader.sql<[alertId: number], Sent>(SENT).all(row.id);
  const sent = Map.groupBy(all, ({ id }) => id);
  return channelsOfProject(reader, row.project_id).map((channel) => ({
    ...channel,
    sent: sent.get(channel.id) ?? [],
  }));
}

/** When the latest event counted into the alert, where none of those after its opening was told. */
function repeatOf(row: AlertRow, timeline: readonly TimelineEntry[]): number | null {
  const first = timeline.find(({ kind }) => kind === "opened")?.detail["count"];
  const isTold = timeline.some(
    ({ kind, detail }) => kind === "renotified" && detail["why"] === "burst",
  );
  return row.drill === 0 && row.count > Number(first ?? 1) && !isTold ? row.last_seen : null;
}

function isMember(reader: Reader, account: string): boolean {
  return reader.sql<[id: string]>("SELECT 1 FROM accounts WHERE id = ?").get(account) !== undefined;
}
