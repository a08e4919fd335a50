import type { Work } from "../../ground/kit/slices.ts";
import type { Reader } from "../../ground/store/store.ts";

/** What became of one alert: times in Unix seconds. */
export interface PastAlert {
  id: number;
  level: number;
  openedAt: number;
  /** null: it is unresolved. */
  endedAt: number | null;
  /** Its sender ended it, and nobody else. */
  isEndedBySource: boolean;
  /** Somebody did anything about it: took it, gave it away, wrote a note, ran an action, ended it; also at its source. */
  isActedOn: boolean;
  identifiers: Readonly<Record<string, string>>;
  /** What tells it from others of its rule. */
  key: string;
  /** Its sender named it, so that no identifier tells it from others. */
  isNamed: boolean;
  /** The steps of its ladder that ran, from 1, each with whom it paged. */
  steps: ReadonlyMap<number, readonly string[]>;
  /** Who acknowledged it first; null: nobody did, or somebody at its source. */
  takenBy: string | null;
  isTakenAtSource: boolean;
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
  drill: number;
}

const NEWEST = `SELECT id, rule_id AS ruleId, level, opened_at AS openedAt, resolved_at AS endedAt, identifiers,
  alert_key AS key, dedup_key AS name, drill FROM alerts WHERE id < ? ORDER BY id DESC LIMIT ?`;
const ACTIONS = `SELECT alert_id AS alert, kind, account_id AS accountId, detail FROM timeline
  WHERE alert_id BETWEEN ? AND ?
    AND (kind IN ('acknowledged', 'resolved', 'escalated') OR account_id IS NOT NULL)
  ORDER BY alert_id, id`;

/** Alerts that are read in one step of the work, and all that are looked at. */
const PIECE = 100;
const MOST = 20_000;

/** The alerts opened since, by their rules' row ids, in the order in which they opened; drills are left out. */
export function* historySince(reader: Reader, from: number): Work<Map<number, PastAlert[]>> {
  const newestFirst: { ruleId: number; past: PastAlert }[] = [];
  let [before, read] = [Number.MAX_SAFE_INTEGER, 0];
  while (read < MOST) {
    const rows = reader.sql<[number, number], Row>(NEWEST).all(before, PIECE);
    const since = rows.filter(({ openedAt, drill }) => openedAt >= from && drill === 0);
    const actions = actionsOf(reader, since);
    for (const row of since)
      newestFirst.push({ ruleId: row.ruleId, past: pastOf(row, actions.get(row.id) ?? []) });
    before = rows.at(-1)?.id ?? before;
    read += rows.length;
    // Ids follow time, but for a clock that was set back.
    if (rows.length < PIECE || rows.every(({ openedAt }) => openedAt < from)) break;
    yield rows.length * 30;
  }
  const byRule = Map.groupBy(newestFirst.toReversed(), ({ ruleId }) => ruleId);
  return new Map([...byRule].map(([rule, all]) => [rule, all.map(({ past }) => past)]));
}

interface Action {
  alert: number;
  kind: string;
  accountId: string | null;
  detail: string;
}

function actionsOf(reader: Reader, rows: readonly { id: number }[]): Map<number, Action[]> {
  const [last, first] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) return new Map();
  const actions = reader.sql<[number, number], Action>(ACTIONS).all(first.id, last.id);
  return Map.groupBy(actions, ({ alert }) => alert);
}

function pastOf(
  { ruleId: _, drill: _drill, identifiers, name, ...row }: Row,
  actions: readonly Action[],
): PastAlert {
  const steps = new Map<number, readonly string[]>();
  let [isActedOn, isEndedBySource, isTakenAtSource] = [false, false, false];
  let takenBy: string | null = null;
  for (const { kind, accountId, detail } of actions) {
    const isTold = kind === "resolved" || kind === "escalated";
    const said: { steps?: unknown; accounts?: string[]; by?: unknown } = isTold
      ? JSON.parse(detail)
      : {};
    isActedOn ||= accountId !== null || kind === "acknowledged";
    if (kind === "acknowledged") {
      takenBy ??= accountId;
      isTakenAtSource ||= accountId === null;
    }
    if (kind === "resolved") isEndedBySource = said.by === "source";
    if (kind === "escalated" && Array.isArray(said.steps))
      for (const step of said.steps) steps.set(Number(step), said.accounts ?? []);
  }
  const told = { identifiers: JSON.parse(identifiers), isNamed: name !== null };
  return { ...row, ...told, isActedOn, isEndedBySource, isTakenAtSource, steps, takenBy };
}
