import type { Store } from "../../../src/ground/store/store.ts";
import type { Machine } from "../engine.ts";
import { wanted, waysNow } from "./laws.ts";
import type { Call } from "./services.ts";

/**
 * Where nobody else comes and no page of an open alert has got through for ten minutes, the fallback has been paged, unless it
 * has nobody but those who are tried already. By what the services took, on a clock that nobody sets.
 */

/** Ten minutes, and the pager's longest rest between two looks. */
const LONG_ENOUGH_MS = 600_000 + 61_000;

/** What pages anew, and what may leave those who are paged the last. */
const ANEW = `kind IN ('assigned', 'unacknowledged', 'reopened')
  OR kind = 'escalated' AND json_extract(detail, '$.why') <> 'repeat'`;
const LAST = `kind IN ('silence_over', 'merged', 'retimed', 'reached_nobody') OR ${ANEW}`;
const STANDING = `SELECT a.id, a.level, (SELECT max(t.id) FROM timeline t WHERE t.alert_id = a.id AND (${ANEW})) AS anew,
    (SELECT max(t.id) FROM timeline t WHERE t.alert_id = a.id AND (${LAST})) AS began,
    (SELECT max(t.id) FROM timeline t WHERE t.alert_id = a.id AND t.kind = 'fallback') AS fell
  FROM alerts a WHERE a.state = 'open' AND a.silenced_by IS NULL AND a.step_at IS NULL AND a.page_accounts <> '[]'
    AND NOT EXISTS (SELECT 1 FROM integrations)`;
const PAGED = `SELECT id, (SELECT max(t.id) FROM timeline t WHERE t.alert_id = a.id AND (${ANEW})) AS anew FROM alerts a WHERE state = 'open'`;
const PAGES = `SELECT contact_id AS contact, due_ms AS due FROM pages
  WHERE alert_id = ? AND event IN ('alert.escalated', 'alert.renotified') AND status IN ('pending', 'failed')`;
const FALLBACK = `SELECT a.id FROM accounts a WHERE a.role = 'owner' OR EXISTS (
  SELECT 1 FROM meta m, json_each(m.value, '$.accounts') f WHERE m.key = 'fallback' AND f.value = a.id)`;

interface Row {
  id: number;
  level: number;
  anew: number | null;
  began: number | null;
  fell: number | null;
}

export function watchUndelivered(deps: {
  store(): Store;
  machine: Machine;
  calls(): readonly Call[];
  say(fault: string): void;
}): { look(upSince: number): void } {
  const { machine, calls, say } = deps;
  /** Since when each alert has had nobody else ahead, and whom the fallback could have paged at any time since. */
  const seen = new Map<number, { began: number; at: number; left: string[] }>();
  /** Since when each alert pages whom it pages, by the line that says so. */
  const paged = new Map<number, number>();
  const all = <T>(sql: string, ...values: number[]) =>
    deps
      .store()
      .sql(sql)
      .all(...values) as T[];

  const look = ({ id, level, anew, began }: Row & { began: number }, upSince: number) => {
    const pages = all<{ contact: string; due: number }>(PAGES, id);
    const tried = new Set(pages.map(({ contact }) => contact));
    const ways = waysNow(deps.store());
    const people = all<{ id: string }>(FALLBACK).filter((one) =>
      wanted(ways, one.id, level).some((way) => !tried.has(way.split(" ")[0] ?? "")),
    );
    const before = seen.get(id);
    const isOld = before?.began === began;
    const at = isOld ? before.at : machine.mono();
    const left = people.map((one) => one.id).filter((one) => !isOld || before.left.includes(one));
    seen.set(id, { began, at, left });
    const since = paged.get(anew ?? 0) ?? 0;
    const isTaken = calls().some(
      ({ took, purpose, alerts, ended }) =>
        took && purpose === "page" && alerts.includes(id) && (ended ?? since) >= since,
    );
    const firsts = new Map(pages.toSorted((a, b) => b.due - a.due).map((p) => [p.contact, p.due]));
    const due = pages.length === 0 ? Infinity : Math.max(...firsts.values());
    const waited = Math.min(machine.mono() - Math.max(at, upSince), deps.store().clock.now() - due);
    if (!isTaken && left.length > 0 && waited > LONG_ENOUGH_MS)
      say(`alert ${id}: no page gets through, and ${left} are not paged`);
  };

  return {
    look(upSince) {
      for (const { anew } of all<{ anew: number | null }>(PAGED))
        if (anew !== null) paged.set(anew, paged.get(anew) ?? machine.mono());
      const rows = all<Row>(STANDING);
      const standing = new Set(rows.map(({ id }) => id));
      for (const id of seen.keys()) if (!standing.has(id)) seen.delete(id);
      for (const row of rows) {
        const { id, anew, began, fell } = row;
        // Once since somebody was paged anew: a ladder that ends behind a fallback calls for no second one.
        const isPaged = fell !== null && fell > (anew ?? 0);
        if (began !== null && !isPaged) look({ ...row, began }, upSince);
        else seen.delete(id);
      }
    },
  };
}
