import type { SqlValue } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import type { EventKind } from "./event.ts";
import type { EventNames } from "./event-names.ts";
import { isHeld } from "./storm.ts";
import { rankOf } from "./turns.ts";

/** One event to go out: its body is fixed here and is the same bytes in every attempt (contract §6). */
interface OutgoingEvent {
  eventId: string;
  projectId: number;
  alertId: number | null;
  /** The alert's: what its deliveries take turns by. 0 where no rule caused it. */
  ruleId: number;
  level: number;
  event: EventKind;
  timestamp: number;
  body: string;
  /** What people are told beyond the body; asked only where somebody puts it into words. */
  said?: () => EventNames;
  /** People are told of it themselves. */
  isPersonal?: boolean;
  /** Ids of the actions that may run; null = every enabled one whose events name this event. */
  actions: readonly string[] | null;
  /** An integration that must not hear of it (its own disabling). */
  exceptIntegration?: string;
  /** Nor do rooms that take openings: they were told of the alert's in this transaction. */
  exceptToldRooms?: boolean;
}

const CHANNEL = "SELECT id, event_filter, speaks, storm_threshold FROM integrations";
const INTEGRATIONS = `${CHANNEL} WHERE project_id = ? AND enabled = 1 ORDER BY id`;
/** Those of other projects that hear of this one, too. */
const SHARED = `${CHANNEL} WHERE shared = 1 AND enabled = 1 AND project_id <> :of
  AND NOT EXISTS (SELECT 1 FROM json_each(except_projects) WHERE value = :of) ORDER BY id`;
const ACTIONS = `SELECT id, event_filter FROM actions WHERE project_id = ? AND enabled = 1 ORDER BY id`;
const RAISE =
  "UPDATE deliveries SET rank = ? WHERE alert_id = ? AND status = 'pending' AND rank < ? RETURNING integration_id";

/**
 * Writes the event and one row for each subscribed destination, in the caller's transaction: the change
 * and its messages are one commit. Due at once; the sender is woken after the commit.
 */
export function enqueue(tx: Tx, event: OutgoingEvent) {
  const told = channelsOf(tx, event);
  const said =
    event.isPersonal || told.some(({ speaks }) => speaks !== 0) ? event.said?.() : undefined;
  const eventRow = tx
    .sql<SqlValue[]>(
      "INSERT INTO events (event_id, project_id, alert_id, event, timestamp, body, said) VALUES (?, ?, ?, ?, ?, ?, ?)",
    )
    .run(
      event.eventId,
      event.projectId,
      event.alertId,
      event.event,
      event.timestamp,
      event.body,
      said === undefined ? null : JSON.stringify(said),
    ).lastInsertRowid;
  const rank = rankOf(event.level);
  // What is behind one of its own alert must not wait with it among lower ones.
  if (event.event !== "alert.opened") raise(tx, event, rank);

  const deliveries = writeDeliveries(tx, event, { channels: told, eventRow, rank });
  const executions = writeExecutions(tx, event, eventRow);
  return {
    /** Rows made: who will be told, for the timeline. */
    deliveries,
    executions,
    /** The event's own row. */
    eventRow: Number(eventRow),
  };
}

/** Returns how many. A channel that is told once a minute has its own held back. */
function writeDeliveries(
  tx: Tx,
  event: OutgoingEvent,
  {
    channels,
    eventRow,
    rank,
  }: { channels: readonly ChannelRow[]; eventRow: number | bigint; rank: number },
): number {
  const now = tx.clock.now();
  for (const row of channels) {
    const { projectId, alertId } = event;
    const room = { integrationId: row.id, threshold: row.storm_threshold };
    const held = isHeld(tx, { ...room, projectId, alertId, event: event.event });
    tx.sql<SqlValue[]>(
      `INSERT INTO deliveries (integration_id, event_row, alert_id, rule_id, rank, event, status, next_attempt_ms, created_at)
       VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
    ).run(
      row.id,
      eventRow,
      alertId,
      event.ruleId,
      rank,
      event.event,
      held ? null : now,
      event.timestamp,
    );
    if (!held) tx.note({ topic: "endpoint", id: row.id });
  }
  return channels.length;
}

/** Returns how many. */
function writeExecutions(tx: Tx, event: OutgoingEvent, eventRow: number | bigint): number {
  const now = tx.clock.now();
  let executions = 0;
  for (const row of tx
    .sql<
      [projectId: number],
      {
        id: string;
        event_filter: string;
      }
    >(ACTIONS)
    .all(event.projectId)) {
    if (!runs(row, event)) continue;
    tx.sql<
      [
        id: string,
        projectId: number,
        eventRow: number | bigint,
        alertId: number | null,
        event: string,
        now: number,
        at: number,
      ]
    >(
      `INSERT INTO executions (action_id, project_id, event_row, alert_id, event, status, next_attempt_ms, created_at)
       VALUES (?, ?, ?, ?, ?, 'pending', ?, ?)`,
    ).run(row.id, event.projectId, eventRow, event.alertId, event.event, now, tx.at);
    tx.note({ topic: "action", id: row.id });
    executions++;
  }
  return executions;
}

interface ChannelRow {
  id: string;
  event_filter: string;
  speaks: number;
  /** null: no room that several people read. */
  storm_threshold: number | null;
}

/** The channels that are told of it. */
function channelsOf(tx: Tx, event: OutgoingEvent): ChannelRow[] {
  const { projectId } = event;
  const own = tx.sql<[projectId: number], ChannelRow>(INTEGRATIONS).all(projectId);
  const shared = tx.sql<{ of: number }, ChannelRow>(SHARED).all({ of: projectId });
  return [...own, ...shared].filter(
    ({ id, event_filter: filter, storm_threshold }) =>
      subscribes(filter, event.event) &&
      id !== event.exceptIntegration &&
      !(event.exceptToldRooms && storm_threshold !== null && subscribes(filter, "alert.opened")),
  );
}

function raise(tx: Tx, { alertId }: OutgoingEvent, rank: number): void {
  const raised = tx
    .sql<[number, number | null, number], { integration_id: string }>(RAISE)
    .all(rank, alertId, rank);
  for (const { integration_id: id } of raised) tx.note({ topic: "endpoint", id });
}

/** Whether a filter ("" = every kind; else sorted kinds joined by commas) lets this kind through. */
export function subscribes(filter: string, event: string): boolean {
  return filter === "" || filter.split(",").includes(event);
}

function runs(action: { id: string; event_filter: string }, event: OutgoingEvent): boolean {
  if (event.actions !== null && !event.actions.includes(action.id)) return false;
  return action.event_filter.split(",").includes(event.event);
}
