import { ownValue } from "../../ground/kit/own-value.ts";
import { compileCondition } from "../projects/condition.ts";
import type { PatternTime } from "../projects/pattern.ts";
import { compileLabels, type Labelled } from "./labels.ts";
import type { SilenceBody } from "./silence.ts";
import { type Timing, windowAt } from "./windows.ts";

/** Is this quiet now, by what, until when: pure, and the only place that says so. With doubt, it rings. */

/** What is asked of: an alert, as silences see it. */
export interface Subject {
  projectId: number;
  rule: string;
  templateId: string;
  identifiers: Readonly<Record<string, string>>;
  /** The only source whose events it has; null: several, or it isn't known. */
  source: string | null;
  level: number;
  labelled(): Labelled;
}

/** Whether a silence takes an alert, whenever it holds. */
type MatchesSubject = (subject: Subject, time: PatternTime) => boolean;

/** A silence that is not over, made ready. */
export interface ReadySilence {
  id: string;
  /** null = every project. */
  projectId: number | null;
  kind: "silence" | "maintenance";
  reason: string;
  timing: Timing;
  takes: MatchesSubject;
  /** Whether it looks at labels. */
  byLabels: boolean;
}

/** An alert that isn't resolved, of a rule that silences the subject's, and about the same. */
export interface Inhibitor {
  id: number;
  rule: string;
  openedAt: number;
}

export interface SilencedBy {
  /** A silence's id, or `alert:` and the id of the alert that it depends on. */
  by: string;
  kind: "silence" | "maintenance" | "alert";
  /** Unix seconds: then it is looked at again. */
  until: number;
  reason: string;
}

/** From this level on a silence must say that it means it. */
export const CRITICAL = 500;
/** Nothing is held back longer by one thing. */
export const LONGEST_QUIET = 30 * 86_400;

/** `silences`: those that take it; `above`: those that stand above it. null: it may ring. Of several reasons the one that lasts longest. */
export function decideSilenced(
  { silences, above }: { silences: readonly ReadySilence[]; above: readonly Inhibitor[] },
  at: number,
): SilencedBy | null {
  let longest: SilencedBy | null = null;
  const keep = (quiet: SilencedBy) => {
    if (quiet.until > at && quiet.until > (longest?.until ?? 0)) longest = quiet;
  };
  for (const { id, kind, reason, timing } of silences) {
    const window = windowAt(timing, at);
    if (window !== null && window.from <= at) keep({ by: id, kind, until: window.until, reason });
  }
  for (const { id, rule, openedAt } of above)
    keep({
      by: `alert:${id}`,
      kind: "alert",
      until: openedAt + LONGEST_QUIET,
      reason: `alert ${id} of ${rule} stands`,
    });
  return longest;
}

/** Those that take it, whenever they hold. */
export const matchingSilences = (
  subject: Subject,
  { silences, time }: { silences: readonly ReadySilence[]; time: PatternTime },
): ReadySilence[] =>
  silences.filter(
    ({ projectId, takes }) =>
      (projectId === null || projectId === subject.projectId) && takes(subject, time),
  );

/** Which alerts a silence takes, whenever it holds; a condition that can't be looked at holds of none. */
export function matcherOf(body: SilenceBody): MatchesSubject {
  const { match, critical } = body;
  const conditions = body.conditions.map(compileCondition);
  const labels = compileLabels(body.labels ?? []);
  const identifiers = Object.entries(match.identifiers);
  const sources = match.sources.length === 0 ? null : new Set(match.sources);
  return (subject, time) => {
    if (subject.level >= CRITICAL && !critical) return false;
    if (match.below_level !== null && subject.level >= match.below_level) return false;
    if (match.rule !== null && match.rule !== subject.rule) return false;
    if (match.template_id !== null && match.template_id !== subject.templateId) return false;
    if (sources !== null && (subject.source === null || !sources.has(subject.source))) return false;
    return (
      identifiers.every(([name, value]) => ownValue(subject.identifiers, name) === value) &&
      conditions.every((holds) => holds(subject.identifiers, time) === true) &&
      (labels === null || labels(subject.labelled(), time))
    );
  };
}

/** Whether nothing but a level narrows it: it covers all of its project, or of every project. */
export function coversAll({
  match,
  conditions,
  labels = [],
}: Pick<SilenceBody, "match" | "conditions" | "labels">) {
  return (
    match.rule === null &&
    match.template_id === null &&
    match.sources.length === 0 &&
    Object.keys(match.identifiers).length === 0 &&
    conditions.length === 0 &&
    labels.length === 0
  );
}
