import { levelAbove, levelFrom } from "../../ground/kit/level.ts";
import type { AlertState } from "./alert.ts";
import { LABEL_PART, type LabelPart, labelPart } from "./label-query.ts";

/** What a list of alerts is asked for. */
export interface TriageFilter {
  /**
   * "newest": by falling id. "need": open ones by level, then the newest; after them acknowledged ones, then resolved
   * ones, by their last change.
   */
  order: "newest" | "need";
  projectId?: number | undefined;
  states?: readonly AlertState[] | undefined;
  rule?: string | undefined;
  minLevel?: number | undefined;
  /** Whether its news is held back. */
  silenced?: boolean | undefined;
  /** Whom it paged, who was given it or acknowledged it: an account's id. */
  mine?: string | undefined;
  /** As people write it (`readAlertQuery`). */
  q?: string | undefined;
  /** `next` of the page before. */
  after?: string | undefined;
  /** Alerts that one page may look at; left out: what its time allows. */
  looked?: number;
  limit: number;
}

/** What is looked for among alerts, as people write it: `#130 level:error rule:"slow payments" key:provider=acme label:host~"db.*" words`. */
export interface AlertQuery {
  id: number | null;
  /** From the level that a name says to the next named one; of a number that one alone. */
  level: { from: number; below: number } | null;
  rule: string | null;
  project: string | null;
  /** Identifiers with their values; null: any value. */
  keys: { name: string; value: string | null }[];
  labels: LabelPart[];
  /** Small letters; each stands in title, template, last message, identifiers or labels. */
  words: string[];
}

export const LONGEST_QUERY = 200;

/** Of `rule:"slow payments"` a name and a value; quotes hold what spaces would part. */
const PART = new RegExp(
  String.raw`${LABEL_PART}|(?:(level|rule|project|key):)?(?:([^\s"=]*)=)?(?:"([^"]*)"?|(\S+))`,
  "gi",
);

/** Groups of the expression's first part. */
const LABEL_GROUPS = 4;

/** Reads what somebody typed. It refuses nothing: what it doesn't know is a word. */
export function readAlertQuery(text: string): AlertQuery {
  const query: AlertQuery = {
    id: null,
    level: null,
    rule: null,
    project: null,
    keys: [],
    labels: [],
    words: [],
  };
  for (const found of text.slice(0, LONGEST_QUERY).matchAll(PART)) {
    if (found.groups?.["label"] !== undefined) {
      query.labels.push(labelPart(found.groups));
      continue;
    }
    const [field = "", name, quoted, bare = ""] = found.slice(1 + LABEL_GROUPS);
    const [whole] = found;
    const value = quoted ?? bare;
    if (!take(query, field.toLowerCase(), { name, value })) {
      const word = field === "" && name === undefined ? value : whole.replaceAll('"', "");
      if (word !== "") query.words.push(word.toLowerCase());
    }
  }
  return query;
}

function take(query: AlertQuery, field: string, { name, value }: Part): boolean {
  if (field === "key") {
    query.keys.push(name === undefined ? { name: value, value: null } : { name, value });
    return true;
  }
  if (name !== undefined) return false;
  if (field === "rule" || field === "project") {
    query[field] = value.toLowerCase();
    return true;
  }
  const level = field === "level" ? levelFrom(value) : null;
  if (level !== null) {
    query.level = { from: level, below: /^\d/.test(value) ? level + 1 : levelAbove(level) };
    return true;
  }
  const id = field === "" ? /^#([1-9][0-9]{0,15})$/.exec(value)?.[1] : undefined;
  if (id === undefined) return false;
  query.id = Number(id);
  return true;
}

interface Part {
  name: string | undefined;
  value: string;
}
