import { findSeries, TEMPLATES } from "../../../core/projects/count-series.ts";
import { firstMissed } from "../../../core/projects/missing.ts";
import { LEARNING_SECONDS } from "../../../core/projects/rule-actions.ts";
import {
  AN_HOUR,
  comparedAt,
  countsAt,
  firstCompared,
  unixDay,
} from "../../../core/projects/unusual.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { identifiersIn } from "../alert-key.ts";
import { heardSince, isLongFor, readDowntimes, returnsByRoot } from "../first-seen.ts";
import { cutDays } from "../hour-rows.ts";
import { type CompiledRule, SOURCE, sourceText, takesAlways, takesKey } from "../match.ts";
import { familiesOf, mayTake } from "../templates.ts";
import type { Weeks } from "./dry-run.ts";
import { rootsOf, sourcesOf } from "./lines.ts";
import { type FiredAt, type FiredIn, firedAsMissing, firedAsUnusual } from "./weeks-fired.ts";
import { type CountedWeeks, readWeeksOf } from "./weeks-read.ts";

/**
 * How much came in the last four weeks of what a rule looks at that asks for what is new, unusual or missing, and where it
 * would have fired: by what the store counts, whatever lines it keeps. Times are Unix seconds.
 */

const DAY = 24 * AN_HOUR;
const SPAN = 28 * DAY;
const MOST_TOLD = 100;

interface WeeksOrder {
  projectId: number;
  now: number;
  isOver(): boolean;
}

type Fired = FiredAt & { key: string };

/** What a rule's counts are of. */
type Subjects = ReturnType<typeof subjectsOf>;

const subjectOf = (key: string): string => key.split(":", 1)[0] ?? "";

/** Null where the rule takes whatever comes. */
export function readWeeks(reader: Reader, rule: CompiledRule, order: WeeksOrder): Weeks | null {
  if (takesAlways(rule)) return null;
  const { projectId, now, isOver } = order;
  const isCounted = rule.isMissing || rule.unusual !== null;
  const selection = isCounted ? rule.selection : TEMPLATES;
  const series = findSeries(reader, { projectId, selection });
  const subjects = subjectsOf(reader, rule, { projectId, selection });
  const { takes } = subjects;
  const counted = readWeeksOf(reader, series?.id ?? 0, { now, takes, isOver });
  const from = Math.floor((now - SPAN) / AN_HOUR) * AN_HOUR;
  const since = Math.max(series?.since ?? now, counted.firstDay * DAY);
  const span = { from, now, since, downs: readDowntimes(reader) };
  const news = newIn(reader, rule, { projectId, counted, subjects }).filter(({ at }) => at >= from);
  const found = isCounted
    ? firedIn(rule, counted, {
        ...span,
        isCut: cutDays(reader, series?.id ?? 0, unixDay(now)),
        isOver,
      })
    : { fired: news, isWhole: true };
  // Within the hour something came for which it was new.
  const lasts = Math.min(rule.windowSeconds, DAY);
  const isNewToo = ({ key, at }: Fired) =>
    news.some((one) => subjectOf(key) === one.key && one.at < at + AN_HOUR && one.at > at - lasts);
  const fired = found.fired
    .filter((one) => !isCounted || rule.firstSeenSeconds === 0 || isNewToo(one))
    .toSorted((a, b) => a.at - b.at);
  return {
    from,
    until: now,
    compares_from:
      series === null ? null : comparesFrom(reader, rule, { projectId, subjects, since }),
    complete: counted.isWhole && found.isWhole,
    hours: hoursOf(rule, { counted, fired, span }),
    fired_count: fired.length,
    fired: fired.slice(-MOST_TOLD).map(({ key, ...one }) => {
      const subject = subjectOf(key);
      const identifiers = identifiersIn(
        isCounted ? rule.rule.identifier_keys : [],
        key.slice(subject.length + 1),
      );
      return { ...one, template_id: subject, template: subjects.textOf(subject), identifiers };
    }),
  };
}

function subjectsOf(
  reader: Reader,
  rule: CompiledRule,
  { projectId, selection }: { projectId: number; selection: string },
) {
  const rootOf = rootsOf(reader, projectId);
  const families = new Map(
    familiesOf(reader, projectId, { rootOf, waiting: new Map() }).map((one) => [one.id, one]),
  );
  const names = new Map(sourcesOf(reader, projectId).map(({ id, name }) => [id, name]));
  const nameOf = (id: number) => names.get(id) ?? "";
  const textOf = (subject: string) =>
    subject === SOURCE && rule.missingSource !== null
      ? sourceText(rule.missingSource)
      : (families.get(subject)?.text ?? `template ${subject}`);
  const ofTemplates = selection === TEMPLATES;
  const takesSubject = (root: string): boolean => {
    if (rule.isMissing)
      return takesKey(rule, { root, text: ofTemplates ? textOf(root) : null, rootOf });
    // Of counts of its own the rule took all.
    if (!ofTemplates) return true;
    const family = families.get(root);
    return family !== undefined && mayTake(rule, family, nameOf(family.count?.sourceId ?? 0));
  };
  const known = new Map<string, boolean>();
  return {
    rootOf,
    textOf,
    takesSource: (id: number) => rule.sources?.has(nameOf(id)) ?? true,
    takes(key: string): boolean {
      const subject = subjectOf(key);
      return known.getOrInsertComputed(subject, () => takesSubject(subject));
    },
  };
}

/** First sights that the rule takes, where it asks for them. */
function newIn(
  reader: Reader,
  { firstSeenSeconds, windowSeconds, rule }: CompiledRule,
  {
    projectId,
    counted,
    subjects,
  }: { projectId: number; counted: CountedWeeks; subjects: Subjects },
): Fired[] {
  if (firstSeenSeconds === 0) return [];
  const countFrom = (key: string, at: number) => {
    let count = 0;
    for (
      let hour = Math.floor(at / AN_HOUR);
      hour * AN_HOUR <= at + Math.min(windowSeconds, DAY);
      hour++
    )
      count += counted.byKey.get(key)?.get(Math.floor(hour / 24))?.hours[hour % 24] ?? 0;
    return count;
  };
  return [...returnsByRoot(reader, projectId, subjects.rootOf)].flatMap(([key, sights]) =>
    sights.flatMap(({ since: at, after, sourceId }) => {
      const isTaken =
        isLongFor({ firstSeenSeconds }, after) &&
        subjects.takesSource(sourceId) &&
        subjects.takes(key);
      const isEnough = rule.fire_after.count === 1 || countFrom(key, at) >= rule.fire_after.count;
      return isTaken && isEnough ? [{ key, at, came: null, usually: null }] : [];
    }),
  );
}

function firedIn(
  rule: CompiledRule,
  { byKey }: CountedWeeks,
  span: FiredIn & { isCut(day: number): boolean; isOver(): boolean },
): { fired: Fired[]; isWhole: boolean } {
  const fired: Fired[] = [];
  for (const [key, days] of byKey) {
    if (span.isOver()) return { fired, isWhole: false };
    const all = rule.isMissing ? firedAsMissing(days, span) : firedAsUnusual(rule, days, span);
    fired.push(...all.map((one) => ({ ...one, key })));
  }
  return { fired, isWhole: true };
}

function comparesFrom(
  reader: Reader,
  rule: CompiledRule,
  { projectId, subjects, since }: { projectId: number; subjects: Subjects; since: number },
): number | null {
  if (rule.isMissing) return firstMissed({ since });
  if (rule.unusual !== null) return firstCompared({ since }, rule.unusual);
  const heard = [...heardSince(reader, projectId)].filter(([id]) => subjects.takesSource(id));
  const first = heard.reduce((least, [, at]) => Math.min(least, at), Infinity);
  return first === Infinity ? null : first + LEARNING_SECONDS;
}

function hoursOf(
  rule: CompiledRule,
  { counted, fired, span }: { counted: CountedWeeks; fired: readonly Fired[]; span: FiredIn },
): Weeks["hours"] {
  const { from, now, since, downs } = span;
  const totalOf = (day: number) => counted.totals.get(day) ?? null;
  const usualAt = (at: number): number | null => {
    if (rule.unusual === null) return null;
    const ends = at + AN_HOUR - 1;
    const weeks = comparedAt(ends, { hours: 1 }, { since, off: downs.within, hoursOf: totalOf });
    const { usual } = countsAt(ends, weeks, 0);
    return usual === null ? null : Math.round(usual * 10) / 10;
  };
  const firedIn = Map.groupBy(fired, ({ at }) => Math.floor(at / AN_HOUR));
  const hours: Weeks["hours"] = [];
  for (let at = from; at <= now; at += AN_HOUR) {
    const hour = at / AN_HOUR;
    const events = totalOf(unixDay(at))?.[hour % 24] ?? 0;
    const one = { at, events, usual: usualAt(at), fired: firedIn.get(hour)?.length ?? 0 };
    if (events > 0 || (one.usual ?? 0) > 0 || one.fired > 0) hours.push(one);
  }
  return hours;
}
