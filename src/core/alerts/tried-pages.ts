import type { Work } from "../../ground/kit/slices.ts";
import { namedClock, wallTime } from "../../ground/kit/wall-time.ts";
import type { Reader } from "../../ground/store/store.ts";
import { createReachable } from "../../out/paging/reachable.ts";
import { followed } from "../oncall/holder.ts";
import { followPreview } from "../oncall/rotation.ts";
import { findForLadder } from "../oncall/schedules.ts";
import { isNightAt } from "../oncall/shift-check.ts";
import { findProject, projectOf } from "../projects/projects.ts";
import type { RuleBody, StoredRule } from "../projects/rule.ts";
import { listRules } from "../projects/rules.ts";
import { followAlert } from "./course.ts";
import type { Break } from "./course-shape.ts";
import { readFallbackPlaces } from "./nobody-reached.ts";
import { readSeats, storedSeats } from "./reach.ts";
import { schedulesOf } from "./rungs-ahead.ts";

/** Whom a rule that is tried would have paged, and what is wrong with its ladder as things stand. */

/** An alert that a rule would have opened; `ended_at` null: it went on. Unix seconds. */
interface TriedAlert {
  opened_at: number;
  ended_at: number | null;
  level: number;
  breaks: readonly Break[];
}

interface TriedPages {
  /** For each alert whom its ladder paged until its end, each once. */
  paged: string[][];
  pages: number;
  /** Between 22 and 7 on the clocks of the schedule that was paged. */
  nightPages: number;
  /** false: there are more than are counted. */
  complete: boolean;
}

const MOST_RUNGS = 20_000;

/**
 * Follows each alert until its end, as nobody acknowledged it and nothing was silenced: with schedules and overrides of then,
 * and who can be reached now.
 */
export function* followTried(
  reader: Reader,
  rule: StoredRule,
  { alerts, until }: { alerts: readonly TriedAlert[]; until: number },
): Work<TriedPages> {
  const around = {
    // When quiet ended it is known.
    rule: { ...rule, auto_resolve_quiet_minutes: 0 },
    seats: readSeats(reader),
    reachable: createReachable(reader),
    fallback: readFallbackPlaces(reader),
    quietAt: null,
  };
  const isNight = nights(reader, rule);
  const found: TriedPages = { paged: [], pages: 0, nightPages: 0, complete: true };
  for (const { opened_at, ended_at, level, breaks } of alerts) {
    const range = { at: opened_at, until: (ended_at ?? until) - 1 };
    const asked = { ...range, breaks, most: MOST_RUNGS };
    const question = { ...asked, rings: false, silent: NOBODY, ack: null };
    const course = found.complete ? yield* followAlert({ ...around, level }, question) : null;
    const paged = new Set<string>();
    for (const { at, accounts, span } of course?.rungs ?? []) {
      if (accounts.length === 0) continue;
      for (const account of accounts) paged.add(account);
      found.pages += 1;
      if (isNight(at, span === null ? [] : schedulesOf(rule, span))) found.nightPages += 1;
      if (found.pages >= MOST_RUNGS) found.complete = false;
      if (!found.complete) break;
    }
    found.paged.push([...paged]);
  }
  return found;
}

const NOBODY: ReadonlySet<string> = new Set();

/** By the clocks of the first schedule that a rung pages, else of the ladder's first, else by UTC. */
function nights(reader: Reader, { project_id, escalations }: StoredRule) {
  const known = new Map<string, (at: number) => boolean>();
  const project = projectOf(reader, project_id);
  const first = escalations.flatMap(({ schedules }) => schedules)[0] ?? "";
  return (at: number, schedules: readonly string[]): boolean => {
    const name = schedules[0] ?? first;
    const isNight =
      known.get(name) ?? isNightAt(findForLadder(reader, project, name)?.timezone ?? "UTC");
    known.set(name, isNight);
    return isNight(at);
  };
}

interface Warning {
  code: string;
  detail: string;
}

const DAYS_AHEAD = 14;
const DAY = 86_400;

/** What to know of a rule before it is set: gaps of its schedules, people whom nothing reaches, a rule that is the same. */
export function* ladderWarnings(
  reader: Reader,
  { project: named, name, body }: { project: string; name: string; body: RuleBody },
  now: number,
): Work<Warning[]> {
  const project = findProject(reader, named);
  if (project === null) return [];
  const warnings: Warning[] = [];
  for (const schedule of new Set(body.escalations.flatMap(({ schedules }) => schedules))) {
    const stored = findForLadder(reader, project, schedule);
    if (stored === null) {
      warnings.push({ code: "unknown_schedule", detail: `There is no schedule ${schedule} here.` });
      continue;
    }
    const { gaps } = yield* followPreview(followed(reader, stored), {
      from: now,
      until: now + DAYS_AHEAD * DAY,
    });
    const { zone, label } = namedClock(stored.timezone);
    if (gaps.length > 0)
      warnings.push({
        code: "nobody_on_call",
        detail: `Within ${DAYS_AHEAD} days ${schedule} has nobody on call at times, first from ${wallTime(gaps[0]?.starts_at ?? now, zone)}${label}.`,
      });
  }
  const unreached = unreachedBy(reader, { projectId: project.id, body, now });
  if (unreached.length > 0)
    warnings.push({ code: "unreachable", detail: `Nothing reaches ${unreached.join(", ")}.` });
  const same = listRules(reader, project.id).find(
    (rule) => rule.name !== name && bodyText(rule) === bodyText(body),
  );
  if (same !== undefined)
    warnings.push({ code: "same_as_rule", detail: `The rule ${same.name} is the same.` });
  return warnings.map(({ code, detail }) => ({ code, detail: detail.slice(0, 500) }));
}

/** Whom the ladder names, or has on call now, and nothing reaches, by email; nobody where the box can't know. */
function unreachedBy(
  reader: Reader,
  { projectId, body, now }: { projectId: number; body: RuleBody; now: number },
): string[] {
  const reachable = createReachable(reader);
  if (!reachable.isKnown) return [];
  const seats = storedSeats(reader);
  const named = body.escalations.flatMap(({ accounts, schedules }) => [
    ...accounts,
    ...schedules.flatMap((name) => seats.onCall({ projectId, name }, now)),
  ]);
  const of = { projectId, level: body.match.min_level ?? 0 };
  const email = reader.sql<[id: string], string>("SELECT email FROM accounts WHERE id = ?").pluck();
  return [...new Set(named)]
    .filter((account) => seats.isMember(account) && !reachable.reaches(account, of))
    .map((account) => email.get(account) ?? account);
}

/** What a rule does, without what it is called. */
function bodyText(rule: RuleBody): string {
  const { match, conditions, fire_after, identifier_keys, escalations, actions } = rule;
  return JSON.stringify([match, conditions, fire_after, identifier_keys, escalations, actions]);
}
