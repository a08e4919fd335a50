import * as z from "zod";
import { text } from "../../ground/kit/fields.ts";
import { levelAbove, levelFrom } from "../../ground/kit/level.ts";
import { queryFlag, queryInteger, queryLimit } from "../../ground/kit/query-fields.ts";
import { type AlertState, alertState } from "./alert.ts";
import { LABEL_PART, type LabelPart, labelPart } from "./label-query.ts";

export const LONGEST_QUERY = 200;

const states = z
  .string()
  .transform((value) => [...new Set(value.split(","))])
  .pipe(z.array(alertState).min(1))
  .meta({ type: "string", description: "One or more of open, acknowledged, resolved: `a,b`." });

export const alertListQuery = z.strictObject({
  project: text(128).optional().describe("Name of a project."),
  state: states.optional(),
  rule: text(200).optional().describe("Name of a rule."),
  since_seq: queryInteger(0)
    .optional()
    .describe("Only alerts that changed after this `updated_seq`."),
  before: queryInteger(0)
    .optional()
    .describe("Without `order`: `next` of the page before, an alert's id."),
  limit: queryLimit(500, 100),
  min_level: queryInteger(0).optional().describe("This level and above."),
  q: text(LONGEST_QUERY)
    .describe(
      '`#130`, `level:error`, `rule:"slow payments"`, `key:provider=acme`, `project:shop`; `label:host=db7`, `label:host~"db.*"` (the whole value), `label:host` (any), each with `-` before it for those that aren\'t so; other words are looked for in title, template, last message, identifiers and labels.',
    )
    .optional(),
  mine: queryFlag
    .optional()
    .describe(
      "Only alerts that paged the caller, were assigned to them, or were acknowledged by them.",
    ),
  silenced: queryFlag.optional().describe("Only silenced alerts, or only others."),
  order: z
    .enum(["newest", "need"], { error: "must be newest or need" })
    .describe(
      "`newest` (default) or `need`: open alerts by level, then the newest; others by their last change.",
    )
    .optional(),
  group: z
    .enum(["rule"], { error: "must be rule" })
    .describe(
      "With order=need: open and acknowledged alerts by rule, in `groups`. Those that page somebody first, then those that page nobody, acknowledged ones, silenced ones; each by level, single ones first.",
    )
    .optional(),
  after: text(60).describe("With `order=need`: `next` of the page before.").optional(),
  counts: queryFlag
    .describe("Also answer how many alerts there are of each sort, in the project or in all.")
    .optional(),
  buckets: queryInteger(1, 360)
    .describe("Also answer, for each alert, its events in each of the last so many minutes.")
    .optional(),
});
export type AlertListQuery = z.output<typeof alertListQuery>;

/** As the list is read. */
export interface TriageFilter
  extends Pick<AlertListQuery, "rule" | "min_level" | "silenced" | "q" | "after" | "limit"> {
  /**
   * "newest": by falling id. "need": open ones by level, then the newest; after them acknowledged ones, then resolved
   * ones, by their last change.
   */
  order: "newest" | "need";
  projectId?: number | undefined;
  states?: readonly AlertState[] | undefined;
  /** Whom it paged, who was given it or acknowledged it: an account's id. */
  mine?: string | undefined;
  /** Alerts that one page may look at; left out: what its time allows. */
  looked?: number;
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
