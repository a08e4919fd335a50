import type { SqlValue } from "../../ground/store/database.ts";
import { getMeta } from "../../ground/store/meta.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type AlertFacts, buildEventBody, type EventKind } from "./event.ts";
import type { EventNames } from "./event-names.ts";
import {
  type GroupedAlerts,
  MOST_PROJECTS,
  MOST_RULES,
  MOST_WORST,
  type RuleCount,
  type SummaryAlert,
} from "./grouped.ts";
import { eventId } from "./notices.ts";
import { rankOf } from "./turns.ts";

/** The one message that tells of everything that a room's storm holds. */

const HELD = `SELECT alert_id FROM deliveries INDEXED BY deliveries_held
  WHERE integration_id = ? AND status = 'pending' AND next_attempt_ms IS NULL GROUP BY alert_id`;
const ALERTS = `FROM (${HELD}) h LEFT JOIN alerts a ON a.id = h.alert_id LEFT JOIN projects p ON p.id = a.project_id`;
const RULES = `SELECT coalesce(p.name, '') AS project, coalesce(a.rule, '') AS rule, count(*) AS total,
    sum(a.state = 'acknowledged') AS acknowledged, sum(a.state = 'resolved') AS resolved
  ${ALERTS} GROUP BY 1, 2 ORDER BY total DESC, project, rule`;
const WORST = `SELECT a.id, p.name AS project, a.rule, a.level, a.state, coalesce(a.title, a.last_message) AS message ${ALERTS}
  WHERE a.id IS NOT NULL ORDER BY a.state = 'resolved', a.state = 'acknowledged', a.level DESC, a.id LIMIT ${MOST_WORST}`;
const FIRST = `SELECT coalesce(a.title, a.last_message) AS message, a.first_seen AS seen, a.rule_id AS ruleId
  FROM (${HELD}) h JOIN alerts a ON a.id = h.alert_id ORDER BY a.id LIMIT 1`;

/** Of a message's text in the database: what is shown is shorter. */
const LONGEST = 300;

/** What is held for the room; null where nothing is. */
function together(reader: Reader, integrationId: string): GroupedAlerts | null {
  const counts = reader.sql<[id: string], RuleCount>(RULES).all(integrationId);
  if (counts.length === 0) return null;
  const sum = (list: readonly RuleCount[]) => list.reduce((all, { total }) => all + total, 0);
  const rest = counts.slice(MOST_RULES);
  const worst = reader.sql<[id: string], SummaryAlert>(WORST).all(integrationId);
  const projects = [...new Set(counts.map(({ project = "" }) => project))].filter(Boolean);
  return {
    total: sum(counts),
    projects: { first: projects.slice(0, MOST_PROJECTS), total: projects.length },
    rules: counts.slice(0, MOST_RULES).map((count) => ({
      ...count,
      acknowledged: count.acknowledged ?? 0,
      resolved: count.resolved ?? 0,
    })),
    more: { rules: rest.length, alerts: sum(rest) },
    worst: worst.map((one) => ({ ...one, message: one.message.slice(0, LONGEST) })),
    first: firstOf(reader, integrationId)?.message.slice(0, LONGEST) ?? "",
  };
}

function firstOf(reader: Reader, integrationId: string) {
  type First = { message: string; seen: number; ruleId: number };
  return reader.sql<[id: string], First>(FIRST).get(integrationId);
}

/**
 * Enqueues the message of all that is held for a room: an event without an alert, as loud as the worst of them. The
 * delivery's id, and of how many alerts it tells; null where nothing is held.
 */
export function enqueueSummary(
  tx: Tx,
  room: { id: string; projectId: number },
): { id: number; told: number } | null {
  const all = together(tx, room.id);
  if (all === null) return null;
  const first = firstOf(tx, room.id);
  const only = all.rules.length === 1 ? all.rules[0]?.rule : undefined;
  const level = all.worst[0]?.level ?? 0;
  const event = kindOf(all);
  const said: EventNames = { together: all };
  const id = eventId(tx.random);
  const facts = factsOf(tx, room.projectId, {
    all,
    rule: only ?? "",
    level,
    seen: first?.seen ?? tx.at,
  });
  const body = buildEventBody({
    event,
    event_id: id,
    alert_id: "",
    tenant_id: String(getMeta(tx, "tenant_id")),
    timestamp: tx.at,
    alert: facts,
  });
  const eventRow = tx
    .sql<SqlValue[]>(
      "INSERT INTO events (event_id, project_id, alert_id, event, timestamp, body, said) VALUES (?, ?, NULL, ?, ?, ?, ?)",
    )
    .run(id, room.projectId, event, tx.at, body, JSON.stringify(said)).lastInsertRowid;
  const delivery = tx
    .sql<SqlValue[]>(
      `INSERT INTO deliveries (integration_id, event_row, alert_id, rule_id, rank, event, status, next_attempt_ms, created_at)
       VALUES (?, ?, NULL, ?, ?, ?, 'pending', ?, ?)`,
    )
    .run(
      room.id,
      eventRow,
      only === undefined ? 0 : (first?.ruleId ?? 0),
      rankOf(level),
      event,
      tx.clock.now(),
      tx.at,
    ).lastInsertRowid;
  tx.note({ topic: "endpoint", id: room.id });
  return { id: Number(delivery), told: all.total };
}

/** What is over in all of them is no alarm. */
function kindOf({ worst: [worst] }: GroupedAlerts): EventKind {
  if (worst?.state === "resolved") return "alert.resolved";
  return worst?.state === "acknowledged" ? "alert.acknowledged" : "alert.opened";
}

function factsOf(
  reader: Reader,
  projectId: number,
  { all, rule, level, seen }: { all: GroupedAlerts; rule: string; level: number; seen: number },
): AlertFacts {
  const home = reader
    .sql<[projectId: number], string>("SELECT name FROM projects WHERE id = ?")
    .pluck()
    .get(projectId);
  // A room may be told of other projects, too.
  const project = all.projects?.total === 1 ? all.projects.first[0] : home;
  return {
    project: project ?? "",
    rule,
    state: all.worst[0]?.state ?? "",
    level,
    template: `${all.total} alerts`,
    count: all.total,
    first_seen: seen,
    last_seen: Math.max(seen, Math.floor(reader.clock.now() / 1000)),
    last_message: all.first,
    identifiers: {},
    investigate: false,
    escalation_level: 0,
    page_accounts: [],
  };
}
