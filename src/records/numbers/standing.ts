import type { Zone } from "../../core/oncall/zone.ts";
import type { Reader } from "../../ground/store/store.ts";
import { beginOf, type Days, localDay } from "./days.ts";
import { noFigures } from "./figures.ts";
import { cellsOf, type Sums } from "./rows.ts";

const STANDING = `SELECT a.project_id AS projectId, a.rule_id AS ruleId, a.opened_at AS openedAt, a.count AS events,
    coalesce((SELECT json_extract(t.detail, '$.level') FROM timeline t WHERE t.alert_id = a.id AND t.kind = 'opened'
      ORDER BY t.id LIMIT 1), a.level) AS level
  FROM alerts a WHERE a.state <> 'resolved' AND a.drill = 0 AND a.opened_at >= ? AND a.opened_at < ? LIMIT 20000`;

interface Standing {
  projectId: number;
  ruleId: number;
  level: number;
  openedAt: number;
  events: number;
}

/** Events of alerts that stand: their history says how many once they end. */
export function addStanding(reader: Reader, sums: Sums, zone: Zone, { from, to }: Days): void {
  const rows = reader
    .sql<[number, number], Standing>(STANDING)
    .all(beginOf(zone, from), beginOf(zone, to + 1));
  for (const { openedAt, events, ...place } of rows) {
    const figures = noFigures();
    figures.counts.events = events;
    cellsOf(sums, place, { day: localDay(zone, openedAt), account: null, figures }, 1);
  }
}
