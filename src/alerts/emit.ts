import { hexId } from "../kit/ids.ts";
import { enqueue } from "../outbox/enqueue.ts";
import { buildEventBody, type EventKind } from "../outbox/event.ts";
import { getMeta } from "../store/meta.ts";
import type { Tx } from "../store/store.ts";
import { type AlertRow, toAlert } from "./alert.ts";

/**
 * Commits one event of an alert with the alert's state as it stands in `row`, and tells the timeline.
 * Two events of one alert and kind never carry the same second: the relay's idempotency key would swallow
 * the second page (decisions §5, Ladder). Returns the event's timestamp.
 */
export function emit(
  tx: Tx,
  row: AlertRow,
  what: { event: EventKind; actions: readonly string[] | null },
): number {
  const last = tx
    .sql("SELECT max(timestamp) FROM events WHERE alert_id = ? AND event = ?")
    .pluck()
    .get(row.id, what.event) as number | null;
  const timestamp = Math.max(tx.at, (last ?? 0) + 1);
  const eventId = `evt_${hexId(tx.random)}${hexId(tx.random)}`;
  const body = buildEventBody({
    event: what.event,
    event_id: eventId,
    alert_id: String(row.id),
    tenant_id: String(getMeta(tx, "tenant_id")),
    timestamp,
    alert: toAlert(row),
  });
  enqueue(tx, {
    eventId,
    projectId: row.project_id,
    alertId: row.id,
    event: what.event,
    timestamp,
    body,
    actions: what.actions,
  });
  return timestamp;
}
