import { NO_LABELS, withKeys } from "../../core/alerts/labels.ts";
import { resolve } from "../../core/alerts/verbs.ts";
import { findSeries, TEMPLATES } from "../../core/projects/count-series.ts";
import { patternTimeOf } from "../../core/projects/pattern.ts";
import { unixDay } from "../../core/projects/unusual.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { identifiersIn } from "./alert-key.ts";
import type { Arrival } from "./arrival.ts";
import { readDowntimes } from "./first-seen.ts";
import type { GoingOn } from "./going-on.ts";
import type { Habits } from "./habits.ts";
import { cutDays, KEPT_DAYS, readDays } from "./hour-rows.ts";
import { admits, type CompiledRule, matches, SOURCE, sourceText, takesKey } from "./match.ts";
import type { OpenAlerts } from "./open-alerts.ts";
import type { Opener } from "./opening.ts";
import type { ProjectStates } from "./project-state.ts";
import type { RowsTaken } from "./rows-taken.ts";
import { createSilentKeys, type Silent, type SilentKeys } from "./silent-keys.ts";
import type { Mined } from "./template/miner.ts";

/** Opens an alert for what no longer comes, and ends it when it comes again (contract §5, missing). */
export type Missing = ReturnType<typeof createMissing>;

/** As bad as an error: what is missing has no level of its own. */
export const MISSING_LEVEL = 400;
const MOST_AT_ONCE = 50;
/** Rules whose series isn't counted yet are looked at again so soon, seconds. */
const LOOK_AGAIN = 60;

const ASKING =
  "SELECT DISTINCT project_id FROM rules WHERE json_extract(body, '$.missing') IS NOT NULL";
/** The alert of this very pause, also one that somebody ended. */
const TOLD = "SELECT 1 FROM alerts WHERE alert_key = ? AND first_seen = ?";

export function createMissing(memory: {
  projects: ProjectStates;
  openAlerts: OpenAlerts;
  habits: Habits;
  goingOn: GoingOn;
  rows: RowsTaken;
  open: Opener["open"];
  /** Before an alert's row is read. */
  writeSoFar(tx: Tx): void;
}) {
  const { projects, openAlerts, habits, goingOn } = memory;
  let asking: number[] | null = null;
  const seriesOf = new Map<CompiledRule, number>();
  let areCounted = false;
  let watches: Map<number, SilentKeys> = new Map();

  const end = (tx: Tx, key: string) => {
    memory.writeSoFar(tx);
    const alert = openAlerts.find(tx, key, 0);
    if (alert === null) return;
    memory.rows.expect(tx);
    resolve(tx, alert.id, { reason: "came" });
    openAlerts.forget(key);
  };

  /** The rules that ask, by the series that they look at. */
  const rulesBySeries = (reader: Reader): Map<number, CompiledRule[]> => {
    asking ??= reader.sql<[], number>(ASKING).pluck().all();
    const rules = asking.flatMap((id) => projects.rules(id).missing);
    const known = rules.flatMap((rule) => {
      const of = { projectId: rule.rule.project_id, selection: rule.selection };
      const series = seriesOf.get(rule) ?? findSeries(reader, of)?.id;
      if (series === undefined) return [];
      seriesOf.set(rule, series);
      return [{ rule, series }];
    });
    areCounted = known.length === rules.length;
    const bySeries = Map.groupBy(known, ({ series }) => series);
    return new Map([...bySeries].map(([id, all]) => [id, all.map(({ rule }) => rule)]));
  };

  const openOne = (tx: Tx, rule: CompiledRule, { key, last, longest }: Silent): number => {
    const { project_id: projectId, id, identifier_keys } = rule.rule;
    const alertKey = `${id}:${key}`;
    const [subject = ""] = key.split(":", 1);
    const text = textOf(tx, projectId, subject);
    const rootOf = (id: string) => projects.get(projectId).miner.rootOf(id);
    if (!takesKey(rule, { root: subject, text, rootOf })) return 0;
    if (openAlerts.find(tx, alertKey, 0) !== null) return 0;
    if (tx.sql<[string, number]>(TOLD).get(alertKey, last) !== undefined) return 0;
    const identifiers = identifiersIn(identifier_keys, key.slice(subject.length + 1));
    const source = rule.missingSource ?? "";
    const template = rule.missingSource === null ? text : sourceText(source);
    const found = {
      subject,
      templateId: subject,
      template,
      called: template,
      identifiers,
      level: MISSING_LEVEL,
      count: 1,
      firstSeen: last,
      lastMessage: `Missing: ${template}`,
      title: null,
      extra: null,
      source,
      isOfOneSource: rule.missingSource !== null,
      instance: null,
      lasts: null,
      // A pause; stored alerts, and the figures of advice, have it by this name.
      because: { missing_since: last, longest_silence: longest },
      stillFiring: null,
      words: 1,
    };
    const labels = withKeys(NO_LABELS, identifiers, rule.names);
    const how = { key: alertKey, dedupKey: null, room: null, labels, keys: null, waited: null };
    memory.open(tx, rule, { ...how, found });
    return 1;
  };

  /** Looks for what fell silent. When there is something to open, or to look for; now: at once; null: no rule asks. */
  const search = (reader: Reader, at: number): number | null => {
    const bySeries = rulesBySeries(reader);
    if (asking?.length === 0) return null;
    watches = new Map(
      [...bySeries.keys()].map((id) => {
        const known = watches.get(id);
        return [id, known ?? createSilentKeys(id, readDowntimes(reader))];
      }),
    );
    let next = areCounted ? Number.POSITIVE_INFINITY : at + LOOK_AGAIN;
    for (const watch of watches.values())
      next = watch.search(reader, at) ? at : Math.min(next, watch.next());
    return next;
  };

  return {
    /** An event came. */
    hear(tx: Tx, arrival: Arrival, mined: Mined) {
      const { source, event } = arrival;
      const { rules, miner } = projects.get(source.projectId);
      if (rules.missing.length === 0) return;
      const time = patternTimeOf(tx);
      for (const rule of rules.missing) {
        if (rule.selection === TEMPLATES && !goingOn.hasAny(tx, rule)) continue;
        const subject = rule.missingSource === null ? mined.root.id : SOURCE;
        const key = rule.keyOf(subject, event.keys);
        if (rule.selection !== TEMPLATES) {
          if (!admits(rule, source.name, mined) || !matches(rule, event, time)) continue;
          habits.count(tx, rule, arrival, key);
        } else if (!takesKey(rule, { root: subject, text: null, rootOf: (id) => miner.rootOf(id) }))
          continue;
        if (goingOn.has(tx, rule, key)) end(tx, key);
      }
    },
    search,
    /** When it has to look again if nothing comes until then; null: never. */
    nextAlone(reader: Reader, at: number): number | null {
      const next = search(reader, at);
      if (next === null || next <= at) return next;
      const alone = Math.min(...watches.values().map((watch) => watch.nextAlone(reader)));
      return alone === Number.POSITIVE_INFINITY ? null : alone;
    },
    isDue: (at: number) => watches.values().some((watch) => watch.due(at).length > 0),
    /** Opens what is due, a few at a time. */
    open(tx: Tx) {
      const bySeries = rulesBySeries(tx);
      let opened = 0;
      for (const [series, watch] of watches) {
        const isCut = cutDays(tx, series, unixDay(tx.at));
        for (const one of watch.due(tx.at)) {
          if (opened >= MOST_AT_ONCE) return;
          const isSilent = isStillSilent(tx, series, { ...one, isCut });
          for (const rule of isSilent ? (bySeries.get(series) ?? []) : [])
            opened += openOne(tx, rule, one);
          watch.drop(one.key);
        }
      }
    },
    /** Rules, times or counts are others now. */
    clear() {
      asking = null;
      seriesOf.clear();
      watches = new Map();
    },
  };
}

/** Whether it didn't come since, and would have been counted if it had. */
function isStillSilent(
  tx: Tx,
  series: number,
  { key, last, isCut }: { key: string; last: number; isCut(day: number): boolean },
): boolean {
  const today = unixDay(tx.at);
  const rows = readDays(tx, { series, key }, { day: today, days: KEPT_DAYS + 1 });
  if (rows.find((row) => row.last <= tx.at)?.last !== last) return false;
  for (let day = unixDay(last) + 1; day <= today; day++) if (isCut(day)) return false;
  return true;
}

const TEXT = "SELECT text FROM templates WHERE project_id = ? AND id = ?";

function textOf(reader: Reader, projectId: number, root: string): string {
  const text = reader.sql<[number, string], string>(TEXT).pluck().get(projectId, root);
  return text ?? `template ${root}`;
}
