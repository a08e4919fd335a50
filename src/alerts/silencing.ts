import { z } from "zod";
import { takerOf } from "../quiet/decide.ts";
import type { SilenceBody, SilenceChange, SilenceRow } from "../quiet/silence.ts";
import { changeSilence, endSilence } from "../quiet/silences.ts";
import type { Reader, Tx } from "../store/store.ts";
import type { AlertRow } from "./alert.ts";
import { lookAgainBy } from "./look-again.ts";

/** What becomes of alerts with a change of a silence, and what a silence would do. */

/** Throws 404, 422 invalid_silence. What it holds is looked at again. */
export function rewriteSilence(tx: Tx, id: string, change: SilenceChange): SilenceRow {
  const row = changeSilence(tx, id, change);
  lookAgainBy(tx, id);
  return row;
}

/** Ends a silence, or deletes one that holds nothing; what it held back is told now. Throws 404. */
export function liftSilence(tx: Tx, id: string): void {
  endSilence(tx, id);
  lookAgainBy(tx, id);
}

export const silencePreview = z
  .object({
    alerts: z.array(z.string()).meta({ description: "Open alerts that it takes now." }),
    past: z.object({
      days: z.int(),
      alerts: z.int().meta({ description: "Alerts of those days that it takes." }),
      pages: z.int().meta({ description: "Steps and renotifies of theirs that went out." }),
    }),
    complete: z.boolean().meta({ description: "false: only the newest 20,000 alerts were seen." }),
  })
  .meta({ id: "SilencePreview" });
export type SilencePreview = z.output<typeof silencePreview>;

const PAST_DAYS = 7;
const DAY = 86_400;
/** Alerts that one look takes in. */
const MOST_SEEN = 20_000;

type Seen = Pick<
  AlertRow,
  "id" | "project_id" | "rule" | "template_id" | "identifiers" | "source" | "level" | "state"
> & { opened_at: number };

const NEWEST = `SELECT id, project_id, rule, template_id, identifiers, source, level, state, opened_at
  FROM alerts WHERE id <= ? AND drill = 0 ORDER BY id DESC LIMIT 1000`;
const OPEN = `SELECT id, project_id, rule, template_id, identifiers, source, level, state, opened_at
  FROM alerts WHERE state = 'open' ORDER BY id DESC LIMIT ${MOST_SEEN}`;
const PAGES = `SELECT count(*) FROM events WHERE alert_id = ? + 0 AND event IN ('alert.escalated', 'alert.renotified')
  AND timestamp > ? + 0`;

/**
 * Which open alerts a silence takes, and what it would have kept back of the past seven days. It reads a thousand alerts
 * at a time and waits for `pause` in between.
 */
export async function previewSilence(
  reader: Reader,
  row: SilenceRow,
  { at, pause }: { at: number; pause: () => Promise<unknown> },
): Promise<SilencePreview> {
  const takes = takerOf(JSON.parse(row.body) as SilenceBody);
  const isTaken = (seen: Seen): boolean =>
    (row.project_id === null || row.project_id === seen.project_id) &&
    takes({
      ...{ projectId: seen.project_id, rule: seen.rule, templateId: seen.template_id },
      identifiers: JSON.parse(seen.identifiers) as Record<string, string>,
      ...{ source: seen.source, level: seen.level },
    });
  const open = reader.sql<[], Seen>(OPEN).all().filter(isTaken);
  const since = at - PAST_DAYS * DAY;
  const pagesOf = reader.sql<[id: number, since: number], number>(PAGES).pluck();
  let [alerts, pages, seen, before] = [0, 0, 0, Number.MAX_SAFE_INTEGER];
  let isDone = false;
  while (!isDone && seen < MOST_SEEN) {
    const rows = reader.sql<[before: number], Seen>(NEWEST).all(before);
    const recent = rows.filter(({ opened_at }) => opened_at > since);
    for (const one of recent.filter(isTaken)) {
      alerts += 1;
      pages += pagesOf.get(one.id, since) ?? 0;
    }
    seen += rows.length;
    before = (rows.at(-1)?.id ?? 0) - 1;
    isDone = rows.length < 1000 || recent.length === 0;
    if (!isDone) await pause();
  }
  return {
    alerts: open.slice(0, 500).map(({ id }) => String(id)),
    past: { days: PAST_DAYS, alerts, pages },
    complete: isDone,
  };
}
