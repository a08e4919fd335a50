import type { Work } from "../../ground/kit/slices.ts";
import type { Reader } from "../../ground/store/store.ts";

/** What became of one alert: times in Unix seconds. */
export interface PastAlert {
  id: number;
  level: number;
  openedAt: number;
  /** null: it is unresolved. */
  endedAt: number | null;
  /** Somebody took it, gave it away, wrote a note on it or ended it by hand. */
  isActedOn: boolean;
  identifiers: Readonly<Record<string, string>>;
  /** What tells it from others of its rule. */
  key: string;
  /** Its sender named it, so that no identifier tells it from others. */
  isNamed: boolean;
  /** The steps of its ladder that ran, from 1, each with whom it paged. */
  steps: ReadonlyMap<number, readonly string[]>;
  takenBy: string | null;
}

interface Row {
  id: number;
  ruleId: number;
  level: number;
  openedAt: number;
  endedAt: number | null;
  identifiers: string;
  key: string;
  name: string | null;
}

const ALERTS = `SELECT id, rule_id AS ruleId, level, opened_at AS openedAt, resolved_at AS endedAt, identifiers,
  alert_key AS key, dedup_key AS name
  FROM alerts WHERE id > ? AND opened_at >= ? AND drill = 0 ORDER BY id LIMIT ?`;
const DEEDS = `SELECT kind, account_id AS accountId, detail FROM timeline
  WHERE alert_id = ? AND kind IN ('acknowledged', 'assigned', 'snoozed', 'noted', 'escalated_now', 'resolved', 'escalated')
  ORDER BY id`;

/** Alerts that are read in one step of the work, and all that are looked at. */
const PIECE = 50;
const MOST = 20_000;

/** The alerts opened since, by their rules' row ids, in the order in which they opened; drills are left out. */
export function* historySince(reader: Reader, from: number): Work<Map<number, PastAlert[]>> {
  const byRule = new Map<number, PastAlert[]>();
  let [last, read] = [0, 0];
  while (read < MOST) {
    const rows = reader.sql<[number, number, number], Row>(ALERTS).all(last, from, PIECE);
    for (const row of rows) {
      const all = byRule.get(row.ruleId) ?? [];
      all.push(pastOf(reader, row));
      byRule.set(row.ruleId, all);
    }
    last = rows.at(-1)?.id ?? last;
    read += rows.length;
    if (rows.length < PIECE) break;
    yield rows.length * 20;
  }
  return byRule;
}

function pastOf(reader: Reader, { ruleId: _, identifiers, name, ...row }: Row): PastAlert {
  const steps = new Map<number, readonly string[]>();
  let isActedOn = false;
  let takenBy: string | null = null;
  const deeds = reader
    .sql<[number], { kind: string; accountId: string | null; detail: string }>(DEEDS)
    .all(row.id);
  for (const { kind, accountId, detail } of deeds) {
    if (kind === "escalated") {
      const { steps: ran, accounts } = JSON.parse(detail) as {
        steps?: unknown;
        accounts?: string[];
      };
      if (Array.isArray(ran)) for (const step of ran) steps.set(Number(step), accounts ?? []);
      continue;
    }
    if (kind === "acknowledged") takenBy ??= accountId;
    isActedOn ||= kind !== "resolved" || accountId !== null;
  }
  return {
    ...row,
    identifiers: JSON.parse(identifiers),
    isNamed: name !== null,
    isActedOn,
    steps,
    takenBy,
  };
}
