import { findSeries, TEMPLATES } from "../../../core/projects/count-series.ts";
import {
  allowedPause,
  LONGEST_ALLOWED,
  NEVER_BEFORE,
  RHYTHM_DAYS,
} from "../../../core/projects/missing.ts";
import type { PatternTime } from "../../../core/projects/pattern.ts";
import { AN_HOUR, unixDay } from "../../../core/projects/unusual.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { identifiersIn } from "../alert-key.ts";
import { readDowntimes } from "../first-seen.ts";
import { countedKey } from "../habits.ts";
import { cutDays, readDays } from "../hour-rows.ts";
import { admits, type CompiledRule, matches, SOURCE, sourceText, takesKey } from "../match.ts";
import { rhythmAt, searchSilent } from "../silent-keys.ts";
import type { DryLine } from "./dry-line.ts";
import { rootsOf } from "./lines.ts";

/**
 * What no longer came, by the lines in order and by the counts of the days before: a dry run then opens what the rule itself
 * would have. It begins with the first whole day (of Unix time) of its span, because counts are kept by the day.
 */
export type DryMissing = ReturnType<typeof dryMissing>;

export interface Missed {
  key: string;
  /** When it was missing for long enough, and when it came again; null: it didn't. */
  at: number;
  until: number | null;
  /** The last that came. */
  line: DryLine;
}

/** Of a key its latest day so far. */
interface Heard {
  last: number;
  day: number;
  n: number;
  gap: number;
  line: DryLine;
}

const DAY = 24 * AN_HOUR;

export function dryMissing(
  reader: Reader,
  rule: CompiledRule,
  {
    projectId,
    from,
    now,
    time,
    isGone,
  }: {
    projectId: number;
    from: number;
    now: number;
    time: PatternTime;
    /** Told of the last line before each pause that isn't judged, because counts of its two weeks are deleted. */
    isGone(line: { at: number }): void;
  },
) {
  const counted = findSeries(reader, { projectId, selection: rule.selection });
  const series = counted?.id ?? null;
  const downs = readDowntimes(reader);
  const rootOf = rootsOf(reader, projectId);
  const firstDay = Math.ceil(from / DAY);
  const isCut = cutDays(reader, series ?? 0, unixDay(now));
  const heard = new Map<string, Heard>();
  const missed: Missed[] = [];

  const takes = (line: DryLine) => {
    const { root } = line.text;
    if (rule.selection === TEMPLATES)
      return takesKey(rule, { root: root.id, text: root.text, rootOf });
    const isOfIt =
      rule.missingSource !== null || takesKey(rule, { root: root.id, text: null, rootOf });
    return isOfIt && admits(rule, line.source, line.text) && matches(rule, line.event, time);
  };
  const keyOf = ({ text, event }: DryLine) =>
    countedKey(rule.keyOf(rule.missingSource === null ? text.root.id : SOURCE, event.keys));

  /** What was stored before the day of its first line. */
  const before = (key: string, line: DryLine): Heard => {
    const day = unixDay(line.at);
    const of = { series: series as number, key };
    const [row] = readDays(reader, of, { day: day - 1, days: RHYTHM_DAYS - 1 });
    return row === undefined
      ? { last: line.at, day, n: 0, gap: NEVER_BEFORE, line }
      : { ...row, line: asMissed(rule, line) };
  };
  /** Whether counts of its two weeks are deleted. */
  const lacksDays = (day: number): boolean => {
    const { since = 0, keptFrom = 0 } = counted ?? {};
    return Math.max(day - RHYTHM_DAYS + 1, unixDay(since)) < keptFrom;
  };
  const allowed = (key: string, { last, day, n, gap }: Heard): number | null => {
    // Of the first day not all is known.
    if (day < firstDay && heard.has(key)) return null;
    if (lacksDays(day)) {
      isGone({ at: last });
      return null;
    }
    const of = { series: series as number, key };
    const past = rhythmAt(reader, of, { day: day - 1, days: RHYTHM_DAYS - 1, isCut });
    if (past === null) return null;
    return allowedPause({ events: past.events + n, longest: Math.max(past.longest, gap) });
  };
  const look = (key: string, one: Heard, until: number, isBack: boolean) => {
    if (downs.pause(one.last, until) < AN_HOUR) return;
    const longest = allowed(key, one);
    if (longest === null) return;
    const at = downs.pausedFor(one.last, longest, until);
    if (at < until && at >= from)
      missed.push({ key, at, until: isBack ? until : null, line: one.line });
  };
  /** What has no line in the span. */
  const lookAtOthers = (until: number) => {
    const span = { after: Number.NEGATIVE_INFINITY, until: until - AN_HOUR, at: until };
    const all = searchSilent(reader, series as number, span, ({ key, last, rhythm }) => {
      if (heard.has(key)) return;
      const lacks = lacksDays(unixDay(last));
      const longest = lacks ? LONGEST_ALLOWED : allowedPause(rhythm);
      const at = longest === null ? null : downs.pausedFor(last, longest, until);
      if (at === null || at > until || at < from) return;
      const line = asMissed(rule, storedLine(reader, projectId, { rule, key, last }));
      if (rule.selection === TEMPLATES && !takes(line)) return;
      if (
        rule.missingTemplate !== null &&
        !takesKey(rule, { root: line.text.root.id, text: null, rootOf })
      )
        return;
      if (lacks) isGone(line);
      else missed.push({ key, at, until: null, line });
    });
    while (all.next().done !== true);
  };

  return {
    /** A line; false where the rule doesn't ask for it to come. */
    hear(line: DryLine): boolean {
      if (!takes(line)) return false;
      if (series === null) return true;
      const key = keyOf(line);
      const known = heard.get(key) ?? before(key, line);
      look(key, known, line.at, true);
      const pause = Math.max(0, downs.pause(known.last, line.at));
      const day = unixDay(line.at);
      const today = day === known.day ? known : { n: 0, gap: 0 };
      const gap = Math.max(today.gap, pause);
      heard.set(key, { last: line.at, day, n: today.n + 1, gap, line: asMissed(rule, line) });
      return true;
    },
    /** All that was missing, by time. */
    finish(until: number): Missed[] {
      if (series === null) return [];
      for (const [key, one] of heard) look(key, one, until, false);
      lookAtOthers(until);
      return missed.toSorted((a, b) => a.at - b.at);
    },
  };
}

/** What is missing by its source has no template. */
function asMissed({ missingSource: source }: CompiledRule, line: DryLine): DryLine {
  if (source === null) return line;
  const root = { id: SOURCE, text: sourceText(source) };
  return { ...line, text: { root, ownText: root.text } };
}

const TEXT = "SELECT text FROM templates WHERE project_id = ? AND id = ?";

/** In place of a line that isn't kept. */
function storedLine(
  reader: Reader,
  projectId: number,
  { rule, key, last }: { rule: CompiledRule; key: string; last: number },
): DryLine {
  const [root = ""] = key.split(":", 1);
  const text = reader.sql<[number, string], string>(TEXT).pluck().get(projectId, root) ?? root;
  const keys = identifiersIn(rule.rule.identifier_keys, key.slice(root.length + 1));
  const event = { message: text, level: 0, keys, tags: null };
  return {
    id: 0,
    at: last,
    sourceId: 0,
    source: "",
    event,
    text: { root: { id: root, text }, ownText: text },
  };
}
