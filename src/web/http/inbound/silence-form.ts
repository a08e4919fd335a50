import type { Condition, LabelCondition } from "../../../core/projects/condition.ts";
import { sizeFault, syntaxFault } from "../../../core/projects/pattern.ts";
import { CRITICAL } from "../../../core/quiet/decide.ts";
import {
  type SilenceAnswer,
  type SilenceWrite,
  silenceWrite,
} from "../../../core/quiet/silence.ts";
import { check } from "../../../ground/kit/check.ts";
import { levelOfWord } from "../../../in/adapters/levels.ts";
import { EVERYTHING, isLike, narrowedByAll } from "../../../records/import/alertmanager/clause.ts";
import { conditionsOf } from "../../../records/import/alertmanager/conditions.ts";
import type { LabelMatcher } from "../../../records/import/alertmanager/matchers.ts";

/** Silences in Alertmanager's words (its API v2, `gettableSilence` and `postableSilence`), and in the box's. */

interface SilenceMatcher {
  name: string;
  value: string;
  isRegex: boolean;
  isEqual: boolean;
}

/** What is wrong with a silence that was sent, in a sentence: it is answered with 400. */
export class SilenceFault extends Error {}

/** A silence that was sent. Times are Unix seconds. */
export type PostedSilence = ReturnType<typeof readPosted>;

const MOST_MATCHERS = 20;
const MOST_TEXT = 4096;

/** Throws SilenceFault. */
export function readPosted(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SilenceFault("the body is no JSON");
  }
  const given = fieldsOf(value, "the body");
  const matchers = given["matchers"];
  if (!Array.isArray(matchers) || matchers.length === 0)
    throw new SilenceFault("invalid silence: at least one matcher required");
  if (matchers.length > MOST_MATCHERS)
    throw new SilenceFault(`invalid silence: at most ${MOST_MATCHERS} matchers`);
  return {
    id: textOf(given, "id"),
    matchers: matchers.map(matcherIn),
    startsAt: timeOf(given, "startsAt"),
    endsAt: timeOf(given, "endsAt"),
    comment: textOf(given, "comment"),
    createdBy: textOf(given, "createdBy"),
  };
}

function fieldsOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new SilenceFault(`${what} must be an object`);
}

function textOf(given: Record<string, unknown>, field: string): string {
  const value = given[field] ?? "";
  if (typeof value !== "string") throw new SilenceFault(`${field} must be a text`);
  if (value.length > MOST_TEXT)
    throw new SilenceFault(`${field} must have at most ${MOST_TEXT} characters`);
  return value;
}

function timeOf(given: Record<string, unknown>, field: string): number {
  const seconds = Math.floor(Date.parse(textOf(given, field)) / 1000);
  if (!Number.isFinite(seconds)) throw new SilenceFault(`${field} must be a time`);
  return seconds;
}

function matcherIn(value: unknown, i: number): SilenceMatcher {
  const given = fieldsOf(value, `matchers.${i}`);
  const name = textOf(given, "name");
  if (name === "") throw new SilenceFault(`matchers.${i}.name must be a label's name`);
  const { isRegex = false, isEqual = true } = given;
  if (typeof isRegex !== "boolean" || typeof isEqual !== "boolean")
    throw new SilenceFault(`matchers.${i}: isRegex and isEqual must be true or false`);
  const matcher = { name, value: textOf(given, "value"), isRegex, isEqual };
  const fault = isRegex ? (sizeFault(matcher.value) ?? syntaxFault(matcher.value)) : null;
  if (fault !== null) throw new SilenceFault(`${matcherText(matcher)}: the pattern ${fault}`);
  return matcher;
}

const opOf = ({ isRegex, isEqual }: SilenceMatcher): LabelMatcher["op"] =>
  isRegex ? (isEqual ? "=~" : "!~") : isEqual ? "=" : "!=";

const matcherText = (matcher: SilenceMatcher): string =>
  `${matcher.name}${opOf(matcher)}${JSON.stringify(matcher.value)}`;

/** The label by which these answers name an alert's project. */
const PROJECT = "project";

/**
 * The box's silence of the same alerts, by their labels. `home`: the only project that it may be of; null: any. Critical
 * alerts ring unless a matcher names their severity. Throws SilenceFault, and as `check`.
 */
export function silenceWriteOf(
  { matchers, startsAt, endsAt, comment, createdBy }: PostedSilence,
  { home, now, author }: { home: string | null; now: number; author: string },
): SilenceWrite {
  if (matchers.every(matchesEmpty))
    throw new SilenceFault("invalid silence: at least one matcher must not match the empty string");
  if (endsAt <= now) throw new SilenceFault("invalid silence: end time can't be in the past");
  if (endsAt <= startsAt)
    throw new SilenceFault("invalid silence: start time must be before end time");
  const labels = labelsOf(matchers.filter(({ name }) => name !== PROJECT));
  const reason = createdBy === "" || createdBy === author ? comment : `${comment} (${createdBy})`;
  const write = {
    project: projectIn(matchers, home),
    labels,
    critical: labels.some(isOfCritical),
    ...(startsAt > now && { starts_at: startsAt }),
    ends_at: endsAt,
    reason: [...reason.trim()].slice(0, 1000).join("") || "silenced by Alertmanager's API",
  };
  return check(silenceWrite, write, "body");
}

function matchesEmpty({ value, isRegex, isEqual }: SilenceMatcher): boolean {
  return (isRegex ? isLike(value, "") : value === "") === isEqual;
}

function labelsOf(matchers: readonly SilenceMatcher[]): LabelCondition[] {
  if (matchers.length === 0)
    throw new SilenceFault(
      "it would silence the whole project: name a label, or make it in the box (box silence add --all)",
    );
  const plain = matchers.map((one) => ({ name: one.name, op: opOf(one), value: one.value }));
  const clause = narrowedByAll(EVERYTHING, plain);
  if (clause === null) throw new SilenceFault("nothing can match these matchers together");
  const { conditions, lost } = conditionsOf(clause, "absent");
  if (lost.length > 0)
    throw new SilenceFault(
      `no silence of the box can say ${lost.join(", ")}: a label that is missing would match, too`,
    );
  return conditions as LabelCondition[];
}

const isOfCritical = ({ key, op, value }: LabelCondition): boolean =>
  key === "severity" &&
  (op === "eq" || op === "in") &&
  [value].flat().some((word) => (levelOfWord(String(word)) ?? 0) >= CRITICAL);

function projectIn(matchers: readonly SilenceMatcher[], home: string | null): string | null {
  const named = matchers.filter(({ name }) => name === PROJECT);
  for (const one of named)
    if (opOf(one) !== "=" || (home ?? named[0]?.value) !== one.value)
      throw new SilenceFault(
        `${matcherText(one)}: a silence is of one project${home === null ? ", by =" : `, here ${home}`}`,
      );
  return home ?? named[0]?.value ?? null;
}

const quoted = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** What a silence compares, as matchers; `isWhole`: they and its times are all that it says. */
export function comparedBy(silence: SilenceAnswer) {
  const { project, match, conditions, labels, repeat, kind } = silence;
  const of = (name: string, value: string): SilenceMatcher => ({
    name,
    value,
    isRegex: false,
    isEqual: true,
  });
  const others = [
    ...(match.rule === null ? [] : [of("rule", match.rule)]),
    ...(match.template_id === null ? [] : [of("template_id", match.template_id)]),
    ...Object.entries(match.identifiers).map(([name, value]) => of(name, value)),
    ...(match.sources.length === 0 ? [] : [conditionIn("source", "in", match.sources)]),
    ...(match.below_level === null ? [] : [of("below_level", `${match.below_level}`)]),
    ...conditions.map(({ key, op, value }) => conditionIn(key, op, value)),
  ];
  const own = labels.map(({ key, op, value }) => conditionIn(key, op, value));
  const home = project === null ? [] : [of(PROJECT, project)];
  const all = [...home, ...own, ...others];
  return {
    // Alertmanager's silences have one at least.
    matchers: all.length === 0 ? [of("everything", "true")] : all,
    isWhole: others.length === 0 && own.length > 0 && repeat === "none" && kind === "silence",
  };
}

function conditionIn(name: string, op: string, value: Condition["value"]): SilenceMatcher {
  const isRegex = !["eq", "neq"].includes(op);
  const text = Array.isArray(value) ? value.map(quoted).join("|") : String(value);
  return { name, value: text, isRegex, isEqual: !["neq", "not_in", "not_matches"].includes(op) };
}

/** Whether they are the same, in whatever order. */
export function sameMatchers(a: readonly SilenceMatcher[], b: readonly SilenceMatcher[]): boolean {
  const text = (all: readonly SilenceMatcher[]) => all.map(matcherText).toSorted().join("\n");
  return text(a) === text(b);
}

const STATES = { active: "active", planned: "pending", over: "expired" } as const;

/** As Alertmanager's API shows it. `author`: whose it is, by email. Of one that repeats: this window, or the next. */
export function silenceView(silence: SilenceAnswer, author: string) {
  const { id, starts_at, ends_at, until, next_at, created_at, reason, name, state } = silence;
  const time = (seconds: number) => new Date(seconds * 1000).toISOString();
  const length = ends_at - starts_at;
  const end = until ?? (next_at === null ? ends_at : next_at + length);
  return {
    id,
    status: { state: STATES[state] },
    updatedAt: time(created_at),
    comment: name === "" ? reason : `${name}: ${reason}`,
    createdBy: author,
    startsAt: time(silence.repeat === "none" ? starts_at : end - length),
    endsAt: time(silence.repeat === "none" ? ends_at : end),
    matchers: comparedBy(silence).matchers,
  };
}
