import { RE2JS } from "re2js";
import { literalsOf } from "./literals.ts";
import type { LabelMatcher } from "./matchers.ts";

/** What a label's value must satisfy. A missing label has the value "". */
export interface Constraint {
  /** The value is one of these; null: any value. */
  any: ReadonlySet<string> | null;
  not: ReadonlySet<string>;
  /** Patterns that the whole value matches, and that it doesn't match. */
  like: readonly string[];
  unlike: readonly string[];
}

/** Constraints by the label's name. All of them must hold. */
export type Clause = ReadonlyMap<string, Constraint>;

export const EVERYTHING: Clause = new Map();

const ANYTHING: Constraint = { any: null, not: new Set(), like: [], unlike: [] };

const compiled = new Map<string, RE2JS>();

/** Throws RE2JS's error for an invalid pattern. */
export function isLike(pattern: string, value: string): boolean {
  let re = compiled.get(pattern);
  if (re === undefined) {
    re = RE2JS.compile(pattern);
    if (compiled.size > 1_000) compiled.clear();
    compiled.set(pattern, re);
  }
  return re.testExact(value);
}

/** The clause with one more matcher; null: nothing can satisfy it. */
export function narrowed(clause: Clause, matcher: LabelMatcher): Clause | null {
  const added = constraintOf(matcher);
  const before = clause.get(matcher.name);
  const after = added === null || before === undefined ? added : both(before, added);
  return after === null ? null : new Map([...clause, [matcher.name, after]]);
}

/** Whether an alert of each clause can have the same value, or none, in all of these labels. */
export function canShare(a: Clause, b: Clause, names: readonly string[]): boolean {
  return names.every((name) => both(a.get(name) ?? ANYTHING, b.get(name) ?? ANYTHING) !== null);
}

/** null: nothing satisfies both. */
function both(a: Constraint, b: Constraint): Constraint | null {
  return settled({
    any: a.any !== null && b.any !== null ? a.any.intersection(b.any) : (a.any ?? b.any),
    not: a.not.union(b.not),
    like: [...new Set([...a.like, ...b.like])],
    unlike: [...new Set([...a.unlike, ...b.unlike])],
  });
}

export function narrowedByAll(clause: Clause, matchers: readonly LabelMatcher[]): Clause | null {
  let all: Clause | null = clause;
  for (const matcher of matchers) all = all === null ? null : narrowed(all, matcher);
  return all;
}

/** The clause without the alerts that match all of `matchers`, as clauses that don't overlap. */
export function without(clause: Clause, matchers: readonly LabelMatcher[]): Clause[] {
  if (narrowedByAll(clause, matchers) === null) return [clause];
  const left: Clause[] = [];
  let before: Clause | null = clause;
  for (const matcher of matchers) {
    if (before === null) break;
    const other = narrowed(before, negated(matcher));
    if (other !== null) left.push(...absentApart(other, matcher.name));
    before = narrowed(before, matcher);
  }
  return left;
}

/** A label that is absent or one of some values: no condition says that, but two clauses do. */
function absentApart(clause: Clause, name: string): Clause[] {
  const any = clause.get(name)?.any;
  if (!any?.has("") || any.size === 1) return [clause];
  return [new Set([""]), any.difference(new Set([""]))].map(
    (some) => new Map([...clause, [name, { ...ANYTHING, any: some }]]),
  );
}

const OPPOSITE = { "=": "!=", "!=": "=", "=~": "!~", "!~": "=~" } as const;

const negated = (matcher: LabelMatcher): LabelMatcher => ({ ...matcher, op: OPPOSITE[matcher.op] });

/** null: nothing satisfies it. */
function constraintOf({ op, value }: LabelMatcher): Constraint | null {
  const texts = op === "=" || op === "!=" ? [value] : literalsOf(value);
  const isNegative = op === "!=" || op === "!~";
  if (texts !== null)
    return { ...ANYTHING, ...(isNegative ? { not: new Set(texts) } : { any: new Set(texts) }) };
  // In Alertmanager these patterns don't match a value with a line end, but no label has one.
  const plain = value.replace(/^\^?\(?(?:\?:)?(\.[*+])\)?\$?$/, "$1");
  if (plain === ".*") return isNegative ? null : ANYTHING;
  if (plain === ".+")
    return { ...ANYTHING, ...(isNegative ? { any: new Set([""]) } : { not: new Set([""]) }) };
  return { ...ANYTHING, ...(isNegative ? { unlike: [value] } : { like: [value] }) };
}

/** The constraint with its parts merged; null: nothing satisfies it. */
function settled(constraint: Constraint): Constraint | null {
  const { any, not, like, unlike } = constraint;
  if (any === null) return like.some((pattern) => unlike.includes(pattern)) ? null : constraint;
  const left = [...any].filter(
    (value) =>
      !not.has(value) &&
      like.every((pattern) => isLike(pattern, value)) &&
      !unlike.some((pattern) => isLike(pattern, value)),
  );
  return left.length === 0 ? null : { ...ANYTHING, any: new Set(left) };
}
