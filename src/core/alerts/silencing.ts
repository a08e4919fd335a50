import * as z from "zod";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type PatternTime, patternTimeOf } from "../projects/pattern.ts";
import { CRITICAL, matcherOf } from "../quiet/decide.ts";
import { begunSilences } from "../quiet/rows.ts";
import type { SilenceBody, SilenceChange, SilenceRow, SilenceWrite } from "../quiet/silence.ts";
import { changeSilence, createSilence, endSilence } from "../quiet/silences.ts";
import { type AlertRow, findAlertRow, getAlertRow } from "./alert.ts";
import { quietBy } from "./hold.ts";
import { type LabelColumns, labelledOf } from "./labels.ts";
import { happen } from "./life/happen.ts";
import { lookAgainAtLoud, recheckHeldBy } from "./many.ts";
import { findRule } from "./rule-of.ts";
import { titleOfAlert } from "./title.ts";

/** What becomes of alerts with a change of a silence, and what a silence would do. */

/**
 * Makes one; open alerts that it takes now are marked: the newest at once, where there are very many the others a moment
 * later. Throws 404, 422 invalid_silence, invalid_timezone or too_many.
 */
export function makeSilence(tx: Tx, made: { write: SilenceWrite; createdBy: string }): SilenceRow {
  const row = createSilence(tx, made);
  const body = JSON.parse(row.body) as SilenceBody;
  const { rule, template_id: template } = body.match;
  const open = tx.sql<[Narrow], Seen>(OPEN_OF).all({ project: row.project_id, rule, template });
  const taken = open.filter(takenBy([row], patternTimeOf(tx)));
  // What was looked up before in this transaction has no such silence.
  const silences = begunSilences(tx, tx.at);
  for (const { id } of taken) {
    const alert = getAlertRow(tx, id);
    const rule = findRule(tx, alert.rule_id);
    const quiet = () => quietBy(tx, alert, { rule, silences, at: tx.at });
    happen(tx, alert, { what: "silenced" }, { rule, quiet });
  }
  if (open.length === AT_ONCE) lookAgainAtLoud(tx);
  return row;
}

/** Throws 404, 422 invalid_silence. What it holds is looked at again. */
export function rewriteSilence(tx: Tx, id: string, change: SilenceChange): SilenceRow {
  const row = changeSilence(tx, id, change);
  recheckHeldBy(tx, id);
  return row;
}

/** Ends a silence, or deletes one that holds nothing; what it held back is told now. Throws 404. */
export function liftSilence(tx: Tx, id: string): void {
  endSilence(tx, id);
  recheckHeldBy(tx, id);
}

const HELD = `SELECT id FROM alerts WHERE silenced_by = ? ORDER BY id DESC LIMIT ?`;

/** Open alerts whose news a silence holds back now, the newest first, at most `most`. */
export function heldBySilence(reader: Reader, id: string, most: number): number[] {
  return reader.sql<[id: string, most: number], number>(HELD).pluck().all(id, most);
}

/** An alert by its name. */
export const titledAlert = z.object({ id: z.string(), title: z.string() });
export type TitledAlert = z.output<typeof titledAlert>;
const MOST_NAMED = 12;

export const silencePreview = z
  .object({
    alerts: z
      .array(z.string())
      .meta({ description: "Open alerts that it takes now, the newest first, 500 at most." }),
    open: z.int().meta({ description: "How many those are in all." }),
    named: z.array(titledAlert).meta({ description: "The newest twelve of them." }),
    past: z.object({
      days: z.int(),
      alerts: z.int().meta({ description: "Alerts of those days that it takes." }),
      named: z.array(titledAlert).meta({ description: "The newest twelve of them." }),
      pages: z.int().meta({ description: "Rungs and renotifies of theirs that went out." }),
      critical: z.int().meta({
        description:
          "Alerts of level 500 and above of those days that it takes, or would with `critical`.",
      }),
    }),
    complete: z.boolean().meta({ description: "false: only the newest 20,000 alerts were seen." }),
  })
  .meta({ id: "SilencePreview" });
export type SilencePreview = z.output<typeof silencePreview>;

const PAST_DAYS = 7;
const DAY = 86_400;
/** Alerts that one look takes in. */
const MOST_SEEN = 20_000;
/** Of them between two pauses. */
const AT_ONCE = 250;

type Seen = Pick<
  AlertRow,
  "id" | "project_id" | "rule" | "template_id" | "identifiers" | "source" | "level" | "opened_at"
> &
  LabelColumns;
const SEEN =
  "id, project_id, rule, template_id, identifiers, source, level, opened_at, labels, varied, varied_more";

const NEWEST = `SELECT ${SEEN} FROM alerts WHERE id <= ? AND drill = 0 ORDER BY id DESC LIMIT ${AT_ONCE}`;
/** Of its own choice SQLite would read all alerts by their ids. */
const OPEN_ONES = `SELECT ${SEEN} FROM alerts INDEXED BY alerts_urgent`;
const OPEN_OF = `${OPEN_ONES}
  WHERE state = 'open' AND (:project IS NULL OR project_id = :project) AND (:rule IS NULL OR rule = :rule)
    AND (:template IS NULL OR template_id = :template) ORDER BY id DESC LIMIT ${AT_ONCE}`;
type Narrow = { project: number | null; rule: string | null; template: string | null };
const OPEN = `${OPEN_ONES} WHERE state = 'open' ORDER BY id DESC LIMIT ${MOST_SEEN}`;
const PAGES = `SELECT count(*) FROM events WHERE alert_id = ? AND event IN ('alert.escalated', 'alert.renotified')
  AND timestamp > ?`;

/**
 * Which open alerts one of these silences takes, and what they would have kept back of the past seven days. It looks at
 * some hundred alerts at a time and waits for `pause` in between. `except`: alerts that aren't counted.
 */
export async function previewSilence(
  reader: Reader,
  rows: readonly SilenceRow[],
  {
    at,
    pause,
    except = new Set(),
  }: { at: number; pause: () => Promise<unknown>; except?: ReadonlySet<number> },
): Promise<SilencePreview> {
  const time = patternTimeOf(reader);
  const takes = takenBy(rows, time);
  const isTaken = (one: Seen) => !except.has(one.id) && takes(one);
  const isCritical = takenBy(rows, time, { critical: true });
  const [taken, past]: [number[], number[]] = [[], []];
  const open = reader.sql<[], Seen>(OPEN).all();
  for (let i = 0; i < open.length; i += AT_ONCE) {
    for (const one of open.slice(i, i + AT_ONCE)) if (isTaken(one)) taken.push(one.id);
    if (open.length > AT_ONCE) await pause();
  }
  const since = at - PAST_DAYS * DAY;
  const pagesOf = reader.sql<[id: number, since: number], number>(PAGES).pluck();
  let [alerts, pages, critical, seen, before] = [0, 0, 0, 0, Number.MAX_SAFE_INTEGER];
  let isDone = false;
  while (!isDone && seen < MOST_SEEN) {
    const rows = reader.sql<[before: number], Seen>(NEWEST).all(before);
    const recent = rows.filter(({ opened_at }) => opened_at > since);
    for (const one of recent.filter(isTaken)) {
      alerts += 1;
      if (past.length < MOST_NAMED) past.push(one.id);
      pages += pagesOf.get(one.id, since) ?? 0;
    }
    critical += recent.filter((one) => one.level >= CRITICAL && isCritical(one)).length;
    seen += rows.length;
    before = (rows.at(-1)?.id ?? 0) - 1;
    isDone = rows.length < AT_ONCE || recent.length === 0;
    if (!isDone) await pause();
  }
  return {
    alerts: taken.slice(0, 500).map(String),
    open: taken.length,
    named: titledAlerts(reader, taken),
    past: { days: PAST_DAYS, alerts, named: titledAlerts(reader, past), pages, critical },
    complete: isDone,
  };
}

/** The first of them by their names. */
export function titledAlerts(
  reader: Reader,
  ids: readonly number[],
  most = MOST_NAMED,
): TitledAlert[] {
  return ids.slice(0, most).flatMap((id) => {
    const row = findAlertRow(reader, id);
    return row === null ? [] : [{ id: String(id), title: titleOfAlert(row) }];
  });
}

/** Whether one of these silences, with `more` in their bodies, takes an alert, whenever it holds. */
function takenBy(
  rows: readonly SilenceRow[],
  time: PatternTime,
  more: Partial<SilenceBody> = {},
): (seen: Seen) => boolean {
  const all = rows.map(({ project_id, body }) => ({
    project_id,
    takes: matcherOf({ ...(JSON.parse(body) as SilenceBody), ...more }),
  }));
  return (seen) => {
    // Most alerts are of other projects: nothing of theirs is read.
    const here = all.filter(({ project_id: of }) => of === null || of === seen.project_id);
    if (here.length === 0) return false;
    const subject = {
      projectId: seen.project_id,
      rule: seen.rule,
      templateId: seen.template_id,
      identifiers: JSON.parse(seen.identifiers) as Record<string, string>,
      source: seen.source,
      level: seen.level,
      labelled: () => labelledOf(seen),
    };
    return here.some(({ takes }) => takes(subject, time));
  };
}
