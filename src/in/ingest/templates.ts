import * as z from "zod";
import { text } from "../../ground/kit/fields.ts";
import { queryInteger, queryLimit } from "../../ground/kit/query-fields.ts";
import type { Reader } from "../../ground/store/store.ts";
import { admits, type CompiledRule, takesAlways } from "./match.ts";
import type { ProjectState } from "./project-state.ts";
import { mayHold } from "./template/naming/holds.ts";
import { hasNames } from "./template/text/marks.ts";
import type { ShapeCount } from "./template-counts.ts";

/** A template in a project's list. Times are Unix seconds. */
const templateAnswer = z
  .object({
    template_id: z.string(),
    template: z.string(),
    count: z.int().meta({ description: "Events since they are counted, merged shapes' too." }),
    first_seen: z.int().nullable().meta({ description: "Null if none came since." }),
    last_seen: z.int().nullable(),
    level: z.int().nullable().meta({ description: "The highest that one of them had." }),
    source: z
      .string()
      .meta({ description: "The source of the latest message; empty if it isn't known." }),
    rules: z.array(z.string()).meta({
      description:
        "Rules that may take it, by its text, its latest source and its highest level; tags and conditions are not looked at. Without those that take only what is new or unusual; with `new_since` those that take what is new are among them.",
    }),
  })
  .meta({ id: "Template" });
export type TemplateAnswer = z.output<typeof templateAnswer>;

export const templatesAnswer = z.object({
  templates: z.array(templateAnswer).meta({
    description:
      "The most frequent first; with `new_since` the highest level, then the most frequent.",
  }),
  events: z.int().meta({ description: "The events of all the project's templates." }),
  next: z.string().nullable().meta({ description: "`after` of the next page; null at the end." }),
});
export type TemplatesAnswer = z.output<typeof templatesAnswer>;

export const templatesQuery = z.strictObject({
  q: text(200)
    .optional()
    .meta({ description: "Part of the template's text, in upper or lower case." }),
  after: text(64).optional().meta({ description: "`next` of the page before." }),
  unmatched: z
    .literal("true")
    .transform((): boolean => true)
    .optional()
    .meta({
      description: "Only templates that no rule can match.",
    }),
  new_since: queryInteger(0).optional().meta({
    description: "Unix seconds: only those that first came then or later.",
  }),
  limit: queryLimit(200, 50),
});
export type TemplatesQuery = z.output<typeof templatesQuery>;

interface Shape {
  id: string;
  shape: string;
  text: string;
}

/** A template with the shapes that were merged into it. */
interface Family {
  id: string;
  text: string;
  texts: string[];
  /** Those of its shapes that have names. */
  named: string[];
  count: ShapeCount | null;
}

const SHAPES = "SELECT id, shape, text FROM templates WHERE project_id = ?";
const COUNTS = `SELECT id, n, first_seen AS firstSeen, last_seen AS lastSeen, level, source_id AS sourceId
  FROM template_counts WHERE project_id = ?`;

/** A page of a project's templates. There are few enough to read all of them. */
export function readTemplates(
  reader: Reader,
  {
    projectId,
    state,
    waiting,
  }: { projectId: number; state: ProjectState; waiting: ReadonlyMap<string, ShapeCount> },
  query: TemplatesQuery,
): TemplatesAnswer {
  const families = familiesOf(reader, projectId, {
    rootOf: (id) => state.miner.rootOf(id),
    waiting,
  });
  const events = families.reduce((sum, { count }) => sum + (count?.n ?? 0), 0);
  const word = query.q?.toLowerCase() ?? "";
  const from = readCursor(query.after);
  const isNewsFirst = query.new_since !== undefined;
  const rules = state.rules.all.filter(
    (rule) => takesAlways(rule) || (isNewsFirst && rule.firstSeenSeconds > 0),
  );
  const order = (a: Place, b: Place) =>
    (isNewsFirst ? b.level - a.level : 0) || b.n - a.n || (a.id < b.id ? -1 : 1);
  const page: TemplateAnswer[] = [];
  const nameOf = sourceNames(reader);
  families.sort((a, b) => order(placeOf(a), placeOf(b)));
  for (const family of families) {
    if (from !== null && (family.id === from.id || order(placeOf(family), from) < 0)) continue;
    if (query.new_since !== undefined && (family.count?.firstSeen ?? 0) < query.new_since) continue;
    if (word !== "" && !family.texts.some((text) => text.toLowerCase().includes(word))) continue;
    const shown = shownOf(family, rules, nameOf);
    if (query.unmatched && shown.rules.length > 0) continue;
    if (page.length === query.limit) {
      const { count, template_id, level } = page.at(-1) as TemplateAnswer;
      const next = isNewsFirst
        ? `${level ?? 0}-${count}-${template_id}`
        : `${count}-${template_id}`;
      return { templates: page, events, next };
    }
    page.push(shown);
  }
  return { templates: page, events, next: null };
}

/** Of "payment <*> failed after <*> s" it is "failed after": what every message of it holds. */
export function longestFixed(template: string): string {
  const parts = template.split("<*>").map((part) => part.trim());
  return parts.reduce((best, part) => (part.length > best.length ? part : best), "").slice(0, 200);
}

const TEXT_OF = "SELECT text FROM templates WHERE project_id = ? AND id = ?";

/** A template's text by its id; empty where it no longer exists. */
export function textOfTemplate(reader: Reader, projectId: number, id: string): string {
  const text = reader.sql<[projectId: number, id: string], string>(TEXT_OF).pluck();
  return text.get(projectId, id) ?? "";
}

const OF_SHAPE = `SELECT root.id AS template_id, root.text AS template FROM templates t
  JOIN templates root ON root.project_id = t.project_id AND root.id = coalesce(t.alias_of, t.id)
  WHERE t.project_id = ? AND t.id = ?`;

/** The template of the first of these shapes that the project has; null where it has none. */
export function templateOfShapes(
  reader: Reader,
  projectId: number,
  ids: readonly string[],
): { template_id: string; template: string } | null {
  const of = reader.sql<[projectId: number, id: string], { template_id: string; template: string }>(
    OF_SHAPE,
  );
  for (const id of ids) {
    const found = of.get(projectId, id);
    if (found !== undefined) return found;
  }
  return null;
}

const BY_SOURCE = `SELECT c.source_id AS id, count(*) AS n FROM template_counts c
  JOIN templates t ON t.project_id = c.project_id AND t.id = c.id AND t.alias_of IS NULL
  WHERE c.project_id = ? GROUP BY c.source_id`;

/** How many templates had their latest event from each source, by the source's id. */
export function templateCountsBySource(reader: Reader, projectId: number): Map<number, number> {
  const rows = reader.sql<[projectId: number], { id: number; n: number }>(BY_SOURCE).all(projectId);
  return new Map(rows.map(({ id, n }) => [id, n]));
}

/** What orders a list. */
interface Place {
  level: number;
  n: number;
  id: string;
}

const placeOf = ({ id, count }: Family): Place => ({
  level: count?.level ?? 0,
  n: count?.n ?? 0,
  id,
});

/** null: from the beginning, also for an invalid cursor. */
function readCursor(after: string | undefined): Place | null {
  const found = /^(?:(\d{1,15})-)?(\d{1,15})-([0-9a-f]{16})$/.exec(after ?? "");
  return found === null
    ? null
    : { level: Number(found[1] ?? 0), n: Number(found[2]), id: found[3] as string };
}

/** All of a project's templates. */
export function familiesOf(
  reader: Reader,
  projectId: number,
  { rootOf, waiting }: { rootOf(id: string): string; waiting: ReadonlyMap<string, ShapeCount> },
): Family[] {
  const counts = new Map(
    reader
      .sql<[projectId: number], ShapeCount & { id: string }>(COUNTS)
      .all(projectId)
      .map(({ id, ...count }) => [id, count]),
  );
  for (const [id, more] of waiting) counts.set(id, together(counts.get(id) ?? null, more));
  const families = new Map<string, Family>();
  for (const { id, shape, text } of reader.sql<[projectId: number], Shape>(SHAPES).all(projectId)) {
    const root = rootOf(id);
    const family = families.get(root) ?? { id: root, text, texts: [], named: [], count: null };
    families.set(root, family);
    if (id === root) family.text = text;
    family.texts.push(text);
    if (hasNames(shape)) family.named.push(shape);
    const count = counts.get(id);
    if (count !== undefined) family.count = together(family.count, count);
  }
  return [...families.values()];
}

function together(one: ShapeCount | null, other: ShapeCount): ShapeCount {
  if (one === null) return { ...other };
  return {
    n: one.n + other.n,
    firstSeen: Math.min(one.firstSeen, other.firstSeen),
    lastSeen: Math.max(one.lastSeen, other.lastSeen),
    level: Math.max(one.level, other.level),
    sourceId: other.lastSeen >= one.lastSeen ? other.sourceId : one.sourceId,
  };
}

/** Whether a rule may take some of a template, by its text, its latest source (empty: it isn't known) and its highest level. */
export function mayTake(
  rule: CompiledRule,
  { text, texts, named, count }: Family,
  source: string,
): boolean {
  const level = count?.level ?? null;
  if (level !== null && level < rule.minLevel) return false;
  const ofAny = source === "" ? { ...rule, sources: null } : rule;
  const takes = (one: CompiledRule, own: string) =>
    admits(one, source, { root: { text }, ownText: own });
  return (
    texts.some((own) => takes(ofAny, own)) ||
    named.some(
      (shape) =>
        mayHold(shape, rule.templateContains) && takes({ ...ofAny, templateContains: "" }, ""),
    )
  );
}

function shownOf(
  family: Family,
  rules: readonly CompiledRule[],
  nameOf: (sourceId: number) => string,
): TemplateAnswer {
  const { id, text, count } = family;
  const source = count === null ? "" : nameOf(count.sourceId);
  return {
    template_id: id,
    template: text,
    count: count?.n ?? 0,
    first_seen: count?.firstSeen ?? null,
    last_seen: count?.lastSeen ?? null,
    level: count?.level ?? null,
    source,
    rules: rules.filter((rule) => mayTake(rule, family, source)).map(({ rule }) => rule.name),
  };
}

function sourceNames(reader: Reader): (sourceId: number) => string {
  const names = new Map<number, string>();
  return (sourceId) => {
    const known = names.get(sourceId);
    if (known !== undefined) return known;
    const name =
      reader
        .sql<[id: number], string>("SELECT name FROM sources WHERE id = ?")
        .pluck()
        .get(sourceId) ?? "";
    names.set(sourceId, name);
    return name;
  };
}
