import { findSeries, TEMPLATES } from "../../core/projects/count-series.ts";
import { allowedPause, missingSubject } from "../../core/projects/missing.ts";
import type { StoredRule } from "../../core/projects/rule.ts";
import { listRules } from "../../core/projects/rules.ts";
import { AN_HOUR } from "../../core/projects/unusual.ts";
import type { Reader } from "../../ground/store/store.ts";
import { rootsOf } from "./dry-run/lines.ts";
import { readDowntimes } from "./first-seen.ts";
import { type Rhythm, searchSilent } from "./silent-keys.ts";

/** A template that came as often as hourly for two weeks and no longer comes, by its own rhythm. Times are Unix seconds. */
interface Vanished {
  template_id: string;
  template: string;
  /** Of its two weeks. */
  events: number;
  longest: number;
  /** For how long nothing of it came while the box ran. */
  silent: number;
}

/** What vanished earlier is known, or was meant. */
const LOOKED_BACK = 7 * 24 * AN_HOUR;
const LOOKED_AT_ONCE = 200;

const TEXT = `SELECT t.text, coalesce(s.name, '') AS source FROM templates t
  LEFT JOIN template_counts c ON c.project_id = t.project_id AND c.id = t.id
  LEFT JOIN sources s ON s.id = c.source_id WHERE t.project_id = ? AND t.id = ?`;

/** What vanished in the last week, and no rule of the project asks for; the most frequent first. Yields between two pieces. */
export function* vanishedIn(
  reader: Reader,
  projectId: number,
  now: number,
): Generator<void, Vanished[], void> {
  const series = findSeries(reader, { projectId, selection: TEMPLATES });
  if (series === null) return [];
  const downs = readDowntimes(reader);
  const silent: { key: string; rhythm: Rhythm; silent: number }[] = [];
  const span = { after: now - LOOKED_BACK, until: now - AN_HOUR, at: now };
  yield* searchSilent(reader, series.id, span, ({ key, last, rhythm }) => {
    const allowed = allowedPause(rhythm);
    const pause = downs.pause(last, now);
    if (allowed !== null && pause > allowed) silent.push({ key, rhythm, silent: pause });
  });
  if (silent.length === 0) return [];
  const rootOf = rootsOf(reader, projectId);
  const asking = listRules(reader, projectId).filter(({ missing }) => missing !== null);
  const text = reader.sql<[number, string], { text: string; source: string }>(TEXT);
  const found: Vanished[] = [];
  for (const [i, { key, rhythm, silent: pause }] of silent
    .toSorted((a, b) => b.rhythm.events - a.rhythm.events)
    .entries()) {
    if (i % LOOKED_AT_ONCE === 0) yield;
    const of = text.get(projectId, key);
    if (of === undefined || asking.some((rule) => mayAsk(rule, { ...of, root: key, rootOf })))
      continue;
    found.push({ template_id: key, template: of.text, ...rhythm, silent: pause });
  }
  return found;
}

/** Whether a rule may say that this is missing, whatever its level, tags and keys. */
function mayAsk(
  { missing, match }: StoredRule,
  of: { text: string; source: string; root: string; rootOf(id: string): string },
): boolean {
  const { template, source } = missingSubject(missing);
  if (source !== null) return source === of.source;
  if (template !== null && of.rootOf(template) !== of.root) return false;
  if (match.sources.length > 0 && !match.sources.includes(of.source)) return false;
  return of.text.includes(match.template_contains);
}
