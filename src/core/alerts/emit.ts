import { getMeta } from "../../ground/store/meta.ts";
import type { Tx } from "../../ground/store/store.ts";
import { enqueue } from "../../out/outbox/enqueue.ts";
import { buildEventBody, type EventKind } from "../../out/outbox/event.ts";
import type { EventNames } from "../../out/outbox/event-names.ts";
import type { StoredRule } from "../projects/rule.ts";
import { type AlertRow, factsOf } from "./alert.ts";
import { followersIn, reachableIn } from "./personal.ts";
import { alwaysSaid } from "./said.ts";

const LAST = "SELECT max(timestamp) FROM events WHERE alert_id = ? AND event = ?";

interface Emission {
  event: EventKind;
  /** The alert's; null once it is deleted: then every action that takes the event runs. */
  rule: StoredRule | null;
  /** What this event tells people beyond its body. */
  said: () => EventNames;
  /** A room that is told of the alert's opening in this transaction isn't told of this, too. */
  exceptToldRooms?: boolean | undefined;
}

/**
 * Commits one event of an alert with the alert's state as it stands in `row`, and tells the timeline.
 * Two events of one alert and kind never carry the same second: the relay's idempotency key would swallow
 * the second page (contract §5, Ladder). Returns the event's row.
 */
export function emit(tx: Tx, row: AlertRow, what: Emission): number {
  const last = tx
    .sql<[id: number, event: string], number | null>(LAST)
    .pluck()
    .get(row.id, what.event);
  const timestamp = Math.max(tx.at, (last ?? 0) + 1);
  const eventId = `evt_${tx.random.bytes(16).toString("hex")}`;
  const body = buildEventBody({
    event: what.event,
    event_id: eventId,
    alert_id: String(row.id),
    tenant_id: tenantId(tx),
    timestamp,
    alert: { ...factsOf(row), title: row.title },
  });
  return enqueue(tx, {
    eventId,
    projectId: row.project_id,
    alertId: row.id,
    ruleId: row.rule_id,
    level: row.level,
    event: what.event,
    timestamp,
    body,
    isPersonal:
      what.event === "alert.opened"
        ? followersIn(tx, row, what.rule).length > 0
        : reachableIn(tx).hasContacts,
    exceptToldRooms: what.exceptToldRooms === true,
    said: () => ({ ...alwaysSaid(tx, row, what), ...what.said() }),
    // What an action mends isn't broken in a drill.
    actions: row.drill !== 0 ? [] : (what.rule?.actions ?? null),
  }).eventRow;
}

const tenantIds = new WeakMap<Tx["db"], string>();

/** It never changes, so it is read once for each open store. */
function tenantId(tx: Tx): string {
  return tenantIds.getOrInsertComputed(tx.db, () => String(getMeta(tx, "tenant_id")));
}
