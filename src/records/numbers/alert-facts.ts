import type { Zone } from "../../core/oncall/zone.ts";
import { localDay } from "./days.ts";
import { bucketOf, count, type DayFigures, noFigures } from "./figures.ts";

/** What an alert's history comes to. Pure. */

export interface CountedAlert {
  id: number;
  projectId: number;
  ruleId: number;
  /** Its present level, for an alert whose history doesn't say the one at its opening. */
  level: number;
  openedAt: number;
}

export interface HistoryLine {
  id: number;
  at: number;
  kind: string;
  accountId: string | null;
  detail: Record<string, unknown>;
}

/** DayFigures of one day; `account`: whose they are, or nobody's. */
export interface DayShare {
  day: number;
  account: string | null;
  figures: DayFigures;
}

/** A page that made a noise, and the line of history that says so. */
export interface NoisyPage {
  line: number;
  at: number;
  account: string;
}

/** Contacts that make a noise: mail and what a program takes make none, and a matrix room isn't known to. */
const NOISY = new Set([
  "web_push",
  "voice",
  "sms",
  "ntfy",
  "pushover",
  "telegram",
  "slack",
  "apns",
]);

/** Ended within so many seconds, and by nobody: it ended by itself. */
const BRIEF = 300;

const PAGING = new Set(["opened", "escalated", "fallback", "assigned", "renotified"]);

interface Page {
  account: string;
  told: HistoryLine;
  ring: HistoryLine | null;
  shown: number | null;
}

/**
 * The facts of an alert so far, `lines` from its first. What is the alert's own belongs to the day of its opening, as all
 * spans of time do; a page belongs to the day on which the person was told.
 */
export function countHistory(alert: CountedAlert, lines: readonly HistoryLine[], zone: Zone) {
  const opened = lines.find(({ kind }) => kind === "opened");
  if (opened === undefined) return { level: alert.level, counted: [], rings: [] };
  const { level = alert.level } = opened.detail as { level?: number };
  const of = cells();
  const day = localDay(zone, alert.openedAt);
  const own = of(day, null);
  own.counts.opened = 1;
  own.counts.reopened = lines.filter(({ kind }) => kind === "reopened").length;
  own.counts.reached_nobody = lines.some(isUnreached) ? 1 : 0;
  countEnd(own, alert, lines);
  const taken = lines.find(({ kind }) => kind === "acknowledged");
  if (taken !== undefined) {
    const { counts, spans } = of(day, taken.accountId);
    counts.acknowledged += 1;
    counts.steps += lines.filter(({ kind, id }) => kind === "escalated" && id < taken.id).length;
    count(spans.opened_to_acknowledged, bucketOf(taken.at - alert.openedAt));
  }
  const pages = pagesOf(lines);
  for (const { account, told, shown } of pages) {
    of(localDay(zone, told.at), account).counts.pages += 1;
    if (shown !== null) count(of(day, account).spans.told_to_shown, bucketOf(shown - told.at));
  }
  const rings = pages.flatMap(({ account, ring }) =>
    ring === null ? [] : [{ line: ring.id, at: ring.at, account }],
  );
  return { level, counted: of.all(), rings };
}

const isUnreached = ({ kind }: HistoryLine): boolean =>
  kind === "reached_nobody" || kind === "unreachable";

/** Of an alert that stands, the end isn't known and its events are still being counted. One that became another's is that one's. */
function countEnd(
  { counts, spans }: DayFigures,
  { openedAt }: CountedAlert,
  lines: readonly HistoryLine[],
): void {
  const end = lines.findLast(({ kind }) => kind === "resolved" || kind === "reopened");
  if (end?.kind !== "resolved" || end.detail["reason"] === "merged") return;
  const events = end.detail["count"] ?? lines[0]?.detail["count"];
  counts.events = typeof events === "number" ? events : 1;
  count(spans.opened_to_resolved, bucketOf(end.at - openedAt));
  const isTaken = lines.some(({ kind }) => kind === "acknowledged");
  if (!isTaken && end.accountId === null && end.at - openedAt <= BRIEF)
    counts.ended_by_themselves = 1;
}

/** A person who is told of one event by several contacts has one page. */
function pagesOf(lines: readonly HistoryLine[]): Page[] {
  const pages = new Map<string, Page>();
  let last = 0;
  for (const line of lines) {
    if (PAGING.has(line.kind)) last = line.id;
    for (const account of toldIn(line)) {
      // Lines of before this was counted don't say which event it was: the latest one.
      const key = `${account} ${line.detail["rung"] ?? `line ${last}`}`;
      const page = pages.getOrInsertComputed(key, () => ({
        account,
        told: line,
        ring: null,
        shown: null,
      }));
      if (isNoise(line)) page.ring ??= line;
      if (line.kind === "shown") page.shown ??= line.at;
    }
  }
  return [...pages.values()];
}

/** Whom a line says to have been told. A device that showed it was, whatever became of the attempt. */
function toldIn({ kind, detail }: HistoryLine): string[] {
  if (kind === "page_sent" || kind === "shown") return [String(detail["account"])];
  const isRelay = kind === "delivered" && Array.isArray(detail["accounts"]);
  return isRelay && detail["event"] !== "alert.opened" ? (detail["accounts"] as string[]) : [];
}

const isNoise = ({ kind, detail }: HistoryLine): boolean =>
  kind === "delivered" || NOISY.has(String(detail["contact"]));

/** DayFigures by day and person, made where they are asked for. */
function cells() {
  const made = new Map<string, DayShare>();
  const of = (day: number, account: string | null): DayFigures => {
    const key = `${day} ${account ?? ""}`;
    const cell = made.getOrInsertComputed(key, () => ({ day, account, figures: noFigures() }));
    return cell.figures;
  };
  return Object.assign(of, { all: () => [...made.values()] });
}
