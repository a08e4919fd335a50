import { ownValue } from "../../ground/kit/own-value.ts";
import { type Condition, compileCondition } from "../projects/condition.ts";
import type { PatternTime } from "../projects/pattern.ts";

/** Which labels a silence wants: pure. With doubt it doesn't take the alert. */

/** What an alert's events say about themselves. */
export interface Labelled {
  /** Each with its last value. */
  labels: Readonly<Record<string, string>>;
  /** Names whose value differed between events, with the values that are known: none of a label that had no room. */
  varied: Readonly<Record<string, readonly string[]>>;
  /** Those of them that had other values, too. */
  varied_more: readonly string[];
  /** Nothing is known of them. */
  isUnknown?: boolean;
}

/** Names without a known value that an alert keeps: with so many there may be others. */
export const MOST_UNKNOWN = 64;

/** Every value that is known of a label; none where it isn't there. */
export function valuesOf({ labels, varied }: Labelled, name: string): readonly string[] {
  const several = ownValue(varied, name);
  if (several !== undefined) return several;
  const value = ownValue(labels, name);
  return value === undefined ? [] : [value];
}

/**
 * What an alert has of these labels, in one text that is another's where both are about one thing; null where one isn't
 * there, or had other values, too: with doubt they aren't.
 */
export function surely(
  { identifiers, labelled }: { identifiers: Labelled["labels"]; labelled(): Labelled },
  names: readonly string[],
): string | null {
  const values = names.map((name) => {
    const own = ownValue(identifiers, name);
    if (own !== undefined) return own;
    const { labels, varied } = labelled();
    return ownValue(varied, name) === undefined ? ownValue(labels, name) : undefined;
  });
  return values.includes(undefined) ? null : JSON.stringify(values);
}

/**
 * Whether all of these hold of an alert; null where there are none to look at. Of a label that varies a condition holds
 * where it does of every value and none is unknown. One whose pattern can't be run, or not now, doesn't hold.
 */
export function compileLabels(
  conditions: readonly Condition[],
): ((of: Labelled, time: PatternTime) => boolean) | null {
  if (conditions.length === 0) return null;
  const all = conditions.map((one) => ({ key: one.key, holds: compileCondition(one) }));
  return (of, time) =>
    all.every(({ key, holds }) => {
      if (of.varied_more.includes(key)) return false;
      const values = valuesOf(of, key);
      if (values.length === 0) return !mayLack(of) && holds({}, time) === true;
      return values.every((value) => holds({ [key]: value }, time) === true);
    });
}

/** Whether it may have had labels of which not even the name is known. */
const mayLack = ({ varied, isUnknown = false }: Labelled): boolean =>
  isUnknown || Object.values(varied).filter((values) => values.length === 0).length >= MOST_UNKNOWN;
