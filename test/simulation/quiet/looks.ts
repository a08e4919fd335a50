import type { Did } from "./acts.ts";
import type { Box } from "./box.ts";
import type { Ledger, Standing } from "./ledger.ts";

/** An alert as its row has it. */
export interface Row extends Standing {
  silenced_by: string | null;
  untold: number;
  step: number;
  step_at: number | null;
  repeat_at: number | null;
  renotify_at: number | null;
  due_at: number | null;
  wakes_at: number | null;
  count: number;
  alert_key: string;
  page_accounts: string;
}

interface NewEvent {
  id: number;
  alert: number;
  event: string;
  timestamp: number;
}

/** One look at the box: what is and what was said since the one before. */
export interface Look {
  did: Did;
  now: number;
  elapsed: number;
  /** Nothing is due any more. */
  rested: boolean;
  rows: Map<number, Row>;
  before: Map<number, Row>;
  /** Events since, in order, and their kinds by alert. */
  fresh: NewEvent[];
  events: Map<number, string[]>;
  history: Map<number, string[]>;
}

const ROWS = `SELECT id, rule, rule_id, page_accounts, state, identifiers, labels, varied, varied_more, level, drill, opened_at, silenced_by, untold, step, step_at, repeat_at,
  renotify_at, due_at, wakes_at, count, alert_key FROM alerts`;
const EVENTS =
  "SELECT id, alert_id AS alert, event, timestamp FROM events WHERE id > ? ORDER BY id";
/** A fallback that has nobody says so in its own line: it counts as one that reached nobody, too. */
const HISTORY = `WITH fresh AS (SELECT id, alert_id AS alert, kind, detail FROM timeline WHERE id > ?)
  SELECT id, alert, kind FROM fresh
  UNION ALL SELECT id, alert, 'reached_nobody' FROM fresh
    WHERE kind = 'fallback' AND json_array_length(detail, '$.accounts') = 0 ORDER BY id`;

/** Reads the box once more after what was done. */
export function createReader(box: Box, ledger: Ledger): (did: Did) => Look {
  let before = new Map<number, Row>();
  let [lastEvent, lastHistory] = [0, 0];
  return (did) => {
    const { engine } = box;
    ledger.read(engine);
    const { store } = engine;
    const now = engine.now();
    const raw = store.sql(ROWS).all() as (Omit<Row, "identifiers"> & { identifiers: string })[];
    const rows = new Map(
      raw.map((row) => [row.id, { ...row, identifiers: JSON.parse(row.identifiers) }]),
    );
    const fresh = store.sql(EVENTS).all(lastEvent) as NewEvent[];
    const history = store.sql(HISTORY).all(lastHistory) as {
      id: number;
      alert: number;
      kind: string;
    }[];
    lastEvent = fresh.at(-1)?.id ?? lastEvent;
    lastHistory = history.at(-1)?.id ?? lastHistory;
    const look: Look = {
      did,
      now,
      elapsed: ledger.elapsed(engine),
      rows,
      before,
      fresh,
      rested: did.what === "look" && (box.nextLook() ?? Infinity) > now,
      events: byAlert(fresh, ({ event }) => event),
      history: byAlert(history, ({ kind }) => kind),
    };
    before = rows;
    return look;
  };
}

function byAlert<T extends { alert: number }>(
  list: readonly T[],
  of: (one: T) => string,
): Map<number, string[]> {
  return new Map(
    [...Map.groupBy(list, ({ alert }) => alert)].map(([id, all]) => [id, all.map(of)]),
  );
}
