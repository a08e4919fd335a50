import type { Labelled } from "../quiet/labels.ts";
import { type AlertLabels, LabelBook, none } from "./label-book.ts";

/** What an alert's events say about themselves: pure. Records have no prototype, so that every name is only a name. */

export const NO_LABELS: AlertLabels = { labels: none(), varied: none(), varied_more: [] };

/** Of an alert from before labels were kept, until an event with keys comes: what it said isn't known. */
const UNKNOWN_LABELS: AlertLabels = { ...NO_LABELS };

/** The keys that a rule itself names: they go before others where there is no room for all. */
export function namesOfRule(rule: {
  conditions: readonly { key: string }[];
  identifier_keys: readonly string[];
  silenced_by: readonly { equal: readonly string[] }[];
}): string[] {
  const { conditions, identifier_keys, silenced_by } = rule;
  return [
    ...new Set([
      ...conditions.map(({ key }) => key),
      ...identifier_keys,
      ...silenced_by.flatMap(({ equal }) => equal),
    ]),
  ];
}

/**
 * What is known of an alert after one more event with these keys; `known` itself where that is nothing new. `first`: the
 * names that the rule gives; where there is no room for one, later ones go.
 */
export function withKeys(known: AlertLabels, keys: Keys, first: readonly string[]): AlertLabels {
  const book = new LabelBook(known);
  return book.hear(keys, first) ? book.labels : known;
}

/** What is known of one alert whose events were counted into two, of which `later` was seen last. */
export function joinedLabels(
  earlier: AlertLabels,
  later: AlertLabels,
  first: readonly string[],
): AlertLabels {
  const book = new LabelBook(earlier);
  return book.hearAll(later, first) ? book.labels : earlier;
}

type Keys = Readonly<Record<string, string>> | null;

/** Characters that it takes in memory. */
export function labelChars({ labels, varied }: AlertLabels): number {
  let chars = 0;
  for (const name in labels) chars += name.length + (labels[name] as string).length;
  for (const name in varied) for (const value of varied[name] as string[]) chars += value.length;
  return chars;
}

/** Every label with all its known values, the last one first: `["host", "db7, db8 …"]`. */
export function labelTexts({ labels, varied, varied_more }: AlertLabels): [string, string][] {
  return Object.entries(labels).map(([name, value]) => {
    const values = Object.hasOwn(varied, name) ? varied[name] : undefined;
    return [name, `${(values ?? [value]).join(", ")}${varied_more.includes(name) ? " …" : ""}`];
  });
}

/** Its columns in the table, JSON; null where there is nothing. `labels` null: nothing is known. */
export interface LabelColumns {
  labels: string | null;
  varied: string | null;
  varied_more: string | null;
}

export function labelColumns(of: AlertLabels): LabelColumns {
  const { labels, varied, varied_more } = of;
  const written = (of: object, isEmpty: boolean) => (isEmpty ? null : JSON.stringify(of));
  return {
    labels: written(labels, of === UNKNOWN_LABELS),
    varied: written(varied, isEmptyRecord(varied)),
    varied_more: written(varied_more, varied_more.length === 0),
  };
}

function isEmptyRecord(of: object): boolean {
  for (const _name in of) return false;
  return true;
}

/** What the columns of an alert's row hold. */
export function labelsOf({ labels, varied, varied_more }: LabelColumns): AlertLabels {
  if (labels === null && varied === null) return UNKNOWN_LABELS;
  return {
    labels: recordOf<string>(labels),
    varied: recordOf<string[]>(varied),
    varied_more: varied_more === null ? [] : (JSON.parse(varied_more) as string[]),
  };
}

/** The same for silences, which don't take an alert by what isn't known of it. */
export function labelledOf(row: LabelColumns): Labelled {
  const of = labelsOf(row);
  return of === UNKNOWN_LABELS ? { ...of, isUnknown: true } : of;
}

function recordOf<T>(json: string | null): Record<string, T> {
  return json === null ? none<T>() : Object.assign(none<T>(), JSON.parse(json));
}

/** All of it in one text, as `JSON.stringify` writes it. */
export function labelsFrom(json: string): AlertLabels {
  const { labels, varied, varied_more } = JSON.parse(json) as AlertLabels;
  return {
    labels: Object.assign(none<string>(), labels),
    varied: Object.assign(none<string[]>(), varied),
    varied_more,
  };
}
