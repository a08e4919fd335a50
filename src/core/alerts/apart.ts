import * as z from "zod";
import { ownValue } from "../../ground/kit/own-value.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { AlertLabels } from "./label-book.ts";
import { type LabelColumns, labelsOf } from "./labels.ts";
import { whileRuleUnchanged } from "./unchanged.ts";

/** What tells an alert from the other unresolved alerts of its rule. */

export const apartAnswer = z.array(z.object({ name: z.string(), value: z.string() })).meta({
  description:
    "Labels that tell it from the other unresolved alerts of its rule, three at most, identifiers first. Of a rule with very many alerts the newest 500 are compared.",
});
export type Apart = z.output<typeof apartAnswer>;

const MOST = 3;
/** Unresolved alerts of a rule that are compared, the newest. */
const COMPARED = 500;

const known = whileRuleUnchanged<Siblings>();

/** The unresolved alerts of an alert's rule. */
export function siblingsOf(
  reader: Reader,
  { project_id, rule_id }: Pick<Compared, "project_id" | "rule_id">,
  ofRule = known(reader),
): Siblings {
  return ofRule(rule_id, () => readSiblings(reader, project_id, rule_id));
}

function readSiblings(reader: Reader, project_id: number, rule_id: number): Siblings {
  const siblings = new Siblings();
  for (const { id, ...columns } of reader
    .sql<[project: number, rule: number], LabelColumns & { id: number }>(SIBLINGS)
    .iterate(project_id, rule_id))
    siblings.add(id, labelsOf(columns));
  return siblings;
}

const SIBLINGS = `SELECT id, labels, varied, varied_more FROM alerts
  WHERE project_id = ? AND rule_id = ? AND state <> 'resolved' AND drill = 0 ORDER BY id DESC LIMIT ${COMPARED}`;

/** Whose labels are compared. */
export interface Compared extends LabelColumns {
  id: number;
  project_id: number;
  rule_id: number;
  /** JSON. */
  identifiers: string;
}

/** For each of these alerts, by its id. One query for each of their rules. */
export function apartOf(reader: Reader, rows: readonly Compared[]): ReadonlyMap<number, Apart> {
  const found = new Map<number, Apart>();
  const siblingsOfRule = known(reader);
  for (const ofRule of Map.groupBy(rows, ({ rule_id }) => rule_id).values()) {
    const [first] = ofRule as [Compared];
    if (ofRule.every(({ labels }) => labels === null || labels === "{}")) continue;
    const siblings = siblingsOf(reader, first, siblingsOfRule);
    for (const row of ofRule) {
      const identifiers = Object.keys(JSON.parse(row.identifiers) as object);
      found.set(row.id, siblings.apart(row.id, labelsOf(row), identifiers));
    }
  }
  return found;
}

/** Unresolved alerts of one rule, and how many of them have each value of each label. */
export class Siblings {
  readonly #ids = new Set<number>();
  readonly #counts = new Map<string, Map<string, number>>();

  add(id: number, of: AlertLabels): void {
    this.#ids.add(id);
    for (const name in of.labels) {
      const byValue = this.#counts.getOrInsertComputed(name, () => new Map());
      const value = allValues(of, name);
      byValue.set(value, (byValue.get(value) ?? 0) + 1);
    }
  }

  /** Labels of an alert that is among them, or that isn't, that another lacks or has with other values; identifiers first. */
  differing(id: number, of: AlertLabels, identifiers: readonly string[]): string[] {
    const itself = this.#ids.has(id) ? 1 : 0;
    const others = this.#ids.size - itself;
    const differs = (name: string) => {
      const alike = this.#counts.get(name)?.get(allValues(of, name)) ?? 0;
      return alike - itself < others;
    };
    const rest = Object.keys(of.labels).filter((name) => !identifiers.includes(name));
    return [...identifiers, ...rest].filter(
      (name) => ownValue(of.labels, name) !== undefined && differs(name),
    );
  }

  /** The first of those, with their values. */
  apart(id: number, of: AlertLabels, identifiers: readonly string[]): Apart {
    return this.differing(id, of, identifiers)
      .slice(0, MOST)
      .map((name) => ({ name, value: of.labels[name] as string }));
  }
}

/** All values of a label in one text: two alerts differ where one has a value that the other lacks. */
function allValues({ labels, varied, varied_more }: AlertLabels, name: string): string {
  const several = ownValue(varied, name);
  if (several === undefined) return JSON.stringify([labels[name]]);
  return JSON.stringify([...several.toSorted(), ...(varied_more.includes(name) ? [null] : [])]);
}
