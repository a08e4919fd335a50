import { ForgetfulMap } from "../kit/forgetful-map.ts";
import type { Condition, StoredRule } from "../projects/rule.ts";
import { type KeyMaker, keyMaker } from "./alert-key.ts";
import type { IngestEvent } from "./event.ts";

/** A rule made ready for the hot path: sets for lists, numbers parsed once. */
export interface CompiledRule {
  readonly rule: StoredRule;
  readonly minLevel: number;
  readonly sources: ReadonlySet<string> | null;
  readonly tags: ReadonlySet<string> | null;
  readonly templateContains: string;
  readonly conditions: readonly ((keys: IngestEvent["keys"]) => boolean)[];
  /** Fires with the first match: no window has to be kept. */
  readonly atOnce: boolean;
  readonly windowSeconds: number;
  readonly keyOf: KeyMaker;
}

export function compileRule(rule: StoredRule): CompiledRule {
  const { match, fire_after } = rule;
  return {
    rule,
    minLevel: match.min_level ?? 0,
    sources: match.sources.length > 0 ? new Set(match.sources) : null,
    tags: match.tags.length > 0 ? new Set(match.tags) : null,
    templateContains: match.template_contains,
    conditions: rule.conditions.map(compileCondition),
    atOnce: fire_after.count === 1 && fire_after.distinct_sources === 1,
    windowSeconds: fire_after.window_minutes * 60,
    keyOf: keyMaker(rule.id, rule.identifier_keys),
  };
}

/** Whether the rule is for events of this source and template (decisions §5). */
export function admits(rule: CompiledRule, source: string, template: string): boolean {
  if (rule.sources !== null && !rule.sources.has(source)) return false;
  return rule.templateContains === "" || template.includes(rule.templateContains);
}

/** Whether an event that the rule admits satisfies the rest of its match and all its conditions. */
export function matches(rule: CompiledRule, event: IngestEvent): boolean {
  if (event.level < rule.minLevel) return false;
  if (rule.tags !== null && !(event.tags?.some((tag) => rule.tags?.has(tag)) ?? false))
    return false;
  for (const holds of rule.conditions) if (!holds(event.keys)) return false;
  return true;
}

/** A project's rules; which of them admit a source and a template is found out once. */
export interface RuleSet {
  of(source: string, template: { readonly text: string }): readonly CompiledRule[];
}

/** Sources that a template is remembered with. */
const MOST_SOURCES = 64;

export function createRuleSet(rules: readonly CompiledRule[]): RuleSet {
  const known = new WeakMap<object, { text: string; bySource: Map<string, CompiledRule[]> }>();
  return {
    of(source, template) {
      let seen = known.get(template);
      // A template's text may become more general.
      if (seen === undefined || seen.text !== template.text) {
        seen = { text: template.text, bySource: new ForgetfulMap(MOST_SOURCES) };
        known.set(template, seen);
      }
      let admitted = seen.bySource.get(source);
      if (admitted === undefined) {
        admitted = rules.filter((rule) => admits(rule, source, template.text));
        seen.bySource.set(source, admitted);
      }
      return admitted;
    },
  };
}

/**
 * eq and neq compare strings; gte and lte compare numbers and fail where either side is no finite number.
 * A missing key fails all but neq.
 */
function compileCondition({ key, op, value }: Condition): (keys: IngestEvent["keys"]) => boolean {
  const text = String(value);
  const number = finite(text);
  const read = (keys: IngestEvent["keys"]) => keys?.[key];
  if (op === "eq") return (keys) => read(keys) === text;
  if (op === "neq") return (keys) => read(keys) !== text;
  const holds =
    op === "gte"
      ? (n: number, bound: number) => n >= bound
      : (n: number, bound: number) => n <= bound;
  return (keys) => {
    const sent = read(keys);
    const n = sent === undefined ? null : finite(sent);
    return n !== null && number !== null && holds(n, number);
  };
}

/** The finite number that a text writes in decimal, or null: "", " ", "0x10" and "Infinity" are none. */
function finite(text: string): number | null {
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) return null;
  const n = Number(text);
  return Number.isFinite(n) ? n : null;
}
