import { namesOfRule } from "../../core/alerts/labels.ts";
import { compileCondition, type Holds } from "../../core/projects/condition.ts";
import { selectionOf, TEMPLATES } from "../../core/projects/count-series.ts";
import { missingSubject } from "../../core/projects/missing.ts";
import type { PatternTime } from "../../core/projects/pattern.ts";
import type { StoredRule } from "../../core/projects/rule.ts";
import { type Unusual, unusualOf } from "../../core/projects/unusual.ts";
import { ForgetfulMap } from "../../ground/kit/forgetful-map.ts";
import { type KeyMaker, keyMaker } from "./alert-key.ts";
import type { IngestEvent } from "./event.ts";

/** A rule prepared for the hot path: sets for lists, numbers parsed once. */
export interface CompiledRule {
  readonly rule: StoredRule;
  readonly minLevel: number;
  readonly sources: ReadonlySet<string> | null;
  readonly tags: ReadonlySet<string> | null;
  readonly templateContains: string;
  /** Its messages must be new: not heard of for so long; 0: any are taken. */
  readonly firstSeenSeconds: number;
  /** They must come more often than usual; null: however often. */
  readonly unusual: Unusual | null;
  /** Whether its alerts open when nothing comes any more; and of which template or source alone, null: of any. */
  readonly isMissing: boolean;
  readonly missingTemplate: string | null;
  readonly missingSource: string | null;
  /** What is counted for it by the hour. */
  readonly selection: string;
  readonly conditions: readonly Holds[];
  /** It fires with the first match, so it needs no window. */
  readonly atOnce: boolean;
  readonly windowSeconds: number;
  /** How long what fires waits before it opens; 0: it opens at once. */
  readonly waitSeconds: number;
  readonly keyOf: KeyMaker;
  /** Keys that are kept before others. */
  readonly names: readonly string[];
}

export function compileRule(rule: StoredRule): CompiledRule {
  const { match, fire_after, missing } = rule;
  const { template, source } = missingSubject(missing);
  const sources = source === null ? match.sources : [source];
  return {
    rule,
    minLevel: match.min_level ?? 0,
    sources: sources.length > 0 ? new Set(sources) : null,
    tags: match.tags.length > 0 ? new Set(match.tags) : null,
    templateContains: match.template_contains,
    firstSeenSeconds: (match.first_seen_days ?? 0) * 86_400,
    unusual: unusualOf(rule),
    isMissing: missing !== null,
    missingTemplate: template,
    missingSource: source,
    selection: selectionOf(rule),
    conditions: rule.conditions.map(compileCondition),
    atOnce: fire_after.count === 1 && fire_after.distinct_sources === 1,
    windowSeconds: fire_after.window_minutes * 60,
    waitSeconds: rule.for_minutes * 60,
    keyOf: keyMaker(rule.id, rule.identifier_keys),
    names: namesOfRule(rule),
  };
}

/** A message's text for rules: its template, and its own shape. */
export interface MatchedText {
  readonly root: { readonly text: string };
  readonly ownText: string;
}

/**
 * Whether the rule's source and text match (contract §5). The text may be in the template, or in the message's own
 * shape: a word that varies is missing in the template, and a template can be more general than any message.
 */
export function admits(rule: CompiledRule, source: string, text: MatchedText): boolean {
  if (rule.sources !== null && !rule.sources.has(source)) return false;
  const { templateContains } = rule;
  if (templateContains === "") return true;
  return text.root.text.includes(templateContains) || text.ownText.includes(templateContains);
}

/**
 * Whether an event satisfies the rest of an admitting rule's match and all its conditions. A condition that can't be
 * evaluated counts as satisfied: a page too many is better than a missing one.
 */
export function matches(rule: CompiledRule, event: IngestEvent, time: PatternTime): boolean {
  if (event.level < rule.minLevel) return false;
  if (rule.tags !== null && !(event.tags?.some((tag) => rule.tags?.has(tag)) ?? false))
    return false;
  let isDoubtful = false;
  for (const holds of rule.conditions) {
    const held = holds(event.keys, time);
    if (held === false) return false;
    isDoubtful ||= held === null;
  }
  if (isDoubtful) time.doubt(rule.rule);
  return true;
}

/** Whether the rule takes what matches each time it comes, and not only what is new, unusual or missing. */
export function takesAlways(rule: CompiledRule): boolean {
  return rule.firstSeenSeconds === 0 && rule.unusual === null && !rule.isMissing;
}

/** What stands in place of a template in the keys of a rule that asks for a missing source. */
export const SOURCE = "source";
export const sourceText = (name: string): string => `source ${name}`;

/**
 * Whether a rule asks for this template or source to come, of what its series counts; `text`: the template's, null where
 * that was looked at.
 */
export function takesKey(
  { missingTemplate, missingSource, selection, templateContains }: CompiledRule,
  of: { root: string; text: string | null; rootOf(id: string): string },
): boolean {
  if (missingSource !== null) return of.root === SOURCE;
  if (missingTemplate !== null && of.rootOf(missingTemplate) !== of.root) return false;
  return selection !== TEMPLATES || (of.text?.includes(templateContains) ?? true);
}

/** The names of the rules that match this event of a source each time it comes, whatever their windows count. */
export function namesOfTakers(
  rules: readonly CompiledRule[],
  { source, event, time }: { source: string; event: IngestEvent; time: PatternTime },
): string[] {
  const text = { root: { text: event.message }, ownText: event.message };
  return rules
    .filter(takesAlways)
    .filter((rule) => admits(rule, source, text) && matches(rule, event, time))
    .map(({ rule }) => rule.name);
}

/** A project's rules. Which of them admit a source and text is cached. */
export interface RuleSet {
  readonly all: readonly CompiledRule[];
  /** Whether one of them waits before it opens an alert. */
  readonly waits: boolean;
  /** Whether one of them asks how often templates came, so that each count is written at once. */
  readonly asksCounts: boolean;
  /** Those whose alerts open when nothing comes any more. */
  readonly missing: readonly CompiledRule[];
  /** Those whose alerts open when something comes. `text` must be one object for all messages of a shape, its root one for all of a template. */
  of(source: string, text: MatchedText): readonly CompiledRule[];
  /** The keys that conditions and identifiers use, the short ones first; computed when first asked for. */
  watched(): ReadonlySet<string>;
}

/** Keys that are looked up in an event of too many keys. */
const MOST_WATCHED = 1000;

/** Keys of one length in alphabetical order, so that the same ones are always kept. */
function watchedBy(rules: readonly CompiledRule[]): Set<string> {
  const sorted = [...new Set(rules.flatMap(({ names }) => names))].sort(
    (a, b) => a.length - b.length || (a < b ? -1 : 1),
  );
  return new Set(sorted.slice(0, MOST_WATCHED));
}

/** Sources that are cached for a shape or template. */
const MOST_SOURCES = 64;

export function createRuleSet(rules: readonly CompiledRule[]): RuleSet {
  const known = new WeakMap<object, { text: string; bySource: Map<string, CompiledRule[]> }>();
  // If no rule uses the text, all shapes of a template have the same rules.
  let watched: Set<string> | null = null;
  const taking = rules.filter(({ isMissing }) => !isMissing);
  const readsText = taking.some((rule) => rule.templateContains !== "");
  return {
    all: rules,
    waits: rules.some(({ waitSeconds }) => waitSeconds > 0),
    asksCounts: rules.some(
      ({ unusual, isMissing, selection }) =>
        (unusual !== null || isMissing) && selection === TEMPLATES,
    ),
    missing: rules.filter(({ isMissing }) => isMissing),
    watched: () => (watched ??= watchedBy(rules)),
    of(source, text) {
      const { root } = text;
      const owner = readsText ? text : root;
      let seen = known.get(owner);
      // A template's text can become more general, and a shape can move to another template.
      if (seen === undefined || (readsText && seen.text !== root.text)) {
        seen = { text: root.text, bySource: new ForgetfulMap(MOST_SOURCES) };
        known.set(owner, seen);
      }
      let admitted = seen.bySource.get(source);
      if (admitted === undefined) {
        admitted = taking.filter((rule) => admits(rule, source, text));
        seen.bySource.set(source, admitted);
      }
      return admitted;
    },
  };
}
