import { and, asc, eq } from "drizzle-orm";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { actions, sources } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import { findSeries, selectionOf } from "./count-series.ts";
import { firstMissed } from "./missing.ts";
import {
  type Learning,
  type Rule,
  type RuleBody,
  type RunsAction,
  type StoredRule,
  toRule,
} from "./rule.ts";
import { firstCompared, unusualOf } from "./unusual.ts";

/** Rules of one project as they are read, each with the actions that it runs and the sources that it learns as things stand. */
export function readRules(reader: Reader, projectId: number, rules: readonly StoredRule[]): Rule[] {
  const enabled = enabledActions(reader, projectId);
  const learned = rules.some(({ match }) => match.first_seen_days !== null)
    ? learnedSources(reader, projectId, unixSeconds(reader.clock))
    : [];
  return rules.map((rule) =>
    toRule(rule, {
      runs_actions: runBy(rule, enabled),
      learning: learnedBy(rule, learned),
      compares_from: comparesFrom(reader, rule.project_id, rule),
    }),
  );
}

/** Every one where the rule names none, else those of its own that are enabled. */
function runBy({ actions }: StoredRule, enabled: RunsAction[]): RunsAction[] {
  return actions === null ? enabled : enabled.filter(({ id }) => actions.includes(id));
}

function enabledActions(reader: Reader, projectId: number): RunsAction[] {
  return reader.orm
    .select({ id: actions.id, name: actions.name, filter: actions.eventFilter })
    .from(actions)
    .where(and(eq(actions.projectId, projectId), eq(actions.enabled, true)))
    .orderBy(asc(actions.name))
    .all()
    .map(({ id, name, filter }) => ({ id, name, events: filter.split(",") }));
}

/**
 * From when on it has two weeks to compare with, Unix seconds. Undefined where it asks for nothing unusual or missing, null where
 * nothing was counted for it yet.
 */
export function comparesFrom(
  reader: Reader,
  projectId: number,
  rule: RuleBody,
): number | null | undefined {
  const asked = unusualOf(rule);
  if (asked === null && rule.missing === null) return undefined;
  const series = findSeries(reader, { projectId, selection: selectionOf(rule) });
  if (series === null) return null;
  return asked === null ? firstMissed(series) : firstCompared(series, asked);
}

/** Seconds from a source's first event in which nothing that it says is new (contract §5). */
export const LEARNING_SECONDS = 86_400;

/** Undefined where the rule doesn't ask for what is new. */
function learnedBy(
  { match }: Pick<RuleBody, "match">,
  learned: Learning[],
): Learning[] | undefined {
  if (match.first_seen_days === null) return undefined;
  const { sources: taken } = match;
  return learned.filter(({ source }) => taken.length === 0 || taken.includes(source));
}

/** The project's sources whose first day isn't over. */
function learnedSources(reader: Reader, projectId: number, now: number): Learning[] {
  return reader.orm
    .select({ source: sources.name, since: sources.heardSince })
    .from(sources)
    .where(eq(sources.projectId, projectId))
    .orderBy(asc(sources.name))
    .all()
    .map(({ source, since }) => ({
      source,
      until: since === null ? null : since + LEARNING_SECONDS,
    }))
    .filter(({ until }) => until === null || until > now);
}

/** What a rule learns as things stand, saved or not. */
export function learnedNow(
  reader: Reader,
  { projectId, now }: { projectId: number; now: number },
  rule: RuleBody,
): Pick<Rule, "learning" | "compares_from"> {
  return {
    learning:
      rule.match.first_seen_days === null
        ? undefined
        : learnedBy(rule, learnedSources(reader, projectId, now)),
    compares_from: comparesFrom(reader, projectId, rule),
  };
}
