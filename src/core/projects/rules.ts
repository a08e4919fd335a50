import { isDeepStrictEqual } from "node:util";
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { type ErrorCode, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { rules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type RuleBody, ruleCreate, type StoredRule } from "./rule.ts";

const columns = {
  id: rules.id,
  project_id: rules.projectId,
  name: rules.name,
  body: rules.body,
  created_at: rules.createdAt,
  updated_at: rules.updatedAt,
};

/** A row of the table, its body still text. */
export interface RuleRow {
  id: number;
  project_id: number;
  name: string;
  body: string;
  created_at: number;
  updated_at: number;
}

/** What a rule does that was written before a field was there: the field's default. Only `max_open` had no bound then. */
const { name: _, ...defaults } = ruleCreate.parse({ name: "-" });
const writtenBefore = { ...defaults, max_open: 0 };

export function ruleOf(row: RuleRow): StoredRule {
  const { body, ...rest } = row;
  return { ...rest, ...writtenBefore, ...(JSON.parse(body) as RuleBody) };
}

/** Every project's rules. */
export function listAllRules(reader: Reader): StoredRule[] {
  return reader.orm.select(columns).from(rules).all().map(ruleOf);
}

/** What rules are called, each name once, at most `most`. */
export function ruleNames(reader: Reader, most: number): string[] {
  const found = reader.orm.selectDistinct({ name: rules.name }).from(rules);
  return found
    .orderBy(asc(rules.name))
    .limit(most)
    .all()
    .map(({ name }) => name);
}

/** By name. */
export function listRules(reader: Reader, projectId: number): StoredRule[] {
  return reader.orm
    .select(columns)
    .from(rules)
    .where(eq(rules.projectId, projectId))
    .orderBy(asc(rules.name))
    .all()
    .map(ruleOf);
}

/** Null where the project has none of this name. */
export function findRuleNamed(reader: Reader, projectId: number, name: string): StoredRule | null {
  const row = reader.orm
    .select(columns)
    .from(rules)
    .where(and(eq(rules.projectId, projectId), eq(rules.name, name)))
    .get();
  return row === undefined ? null : ruleOf(row);
}

/** Throws 404. */
export function getRule(reader: Reader, projectId: number, name: string): StoredRule {
  const rule = findRuleNamed(reader, projectId, name);
  if (rule === null) throw notFound("rule");
  return rule;
}

/** Writes a new rule as it stands: what else a rule needs is the verb's (alerts/rules.ts). */
export function insertRule(
  tx: Tx,
  rule: { projectId: number; name: string; body: RuleBody },
): StoredRule {
  const { projectId, name } = rule;
  const row = tx.orm
    .insert(rules)
    .values({
      projectId,
      name,
      body: JSON.stringify(rule.body),
      createdAt: tx.at,
      updatedAt: tx.at,
    })
    .returning(columns)
    .get();
  return ruleOf(row);
}

/** Replaces a rule's body. Null where it says the same already, also in another order: a version may have written it so. */
export function rewriteRule(tx: Tx, before: StoredRule, body: RuleBody): StoredRule | null {
  const { id, project_id, name, created_at, updated_at, ...stored } = before;
  if (isDeepStrictEqual(stored, body)) return null;
  const row = tx.orm
    .update(rules)
    .set({ body: JSON.stringify(body), updatedAt: tx.at })
    .where(eq(rules.id, id))
    .returning(columns)
    .get();
  return row === undefined ? null : ruleOf(row);
}

/** The same rule by another name. */
export function writeRuleName(tx: Tx, id: number, name: string): void {
  tx.orm.update(rules).set({ name, updatedAt: tx.at }).where(eq(rules.id, id)).run();
}

/** What ladders name of a schedule; `name` null: of any of the project's, as other projects do. */
interface NamedOf {
  project: { id: number; name: string };
  name: string | null;
}

/** Rules of every project whose ladders name it, by age. */
export function rulesWithSchedule(reader: Reader, { project, name }: NamedOf): StoredRule[] {
  const there = `${project.name}/`;
  const isNamed: SQL =
    name === null
      ? sql`substr(n.value, 1, length(${there})) = ${there}`
      : sql`n.value = ${there + name} OR (n.value = ${name} AND ${rules.projectId} = ${project.id})`;
  return reader.orm
    .select(columns)
    .from(rules)
    .where(
      sql`EXISTS (SELECT 1 FROM json_each(${rules.body}, '$.escalations') s,
        json_each(s.value, '$.schedules') n WHERE ${isNamed})`,
    )
    .orderBy(asc(rules.id))
    .all()
    .map(ruleOf);
}

/** A schedule or its project has another name now. That is no change of the rule: its `updated_at` stays. */
export function renameInLadder(tx: Tx, rule: StoredRule, renamed: (name: string) => string): void {
  const { id, project_id, name, created_at, updated_at, ...body } = rule;
  const escalations = body.escalations.map((step) => ({
    ...step,
    schedules: step.schedules.map(renamed),
  }));
  const text = JSON.stringify({ ...body, escalations } satisfies RuleBody);
  tx.orm.update(rules).set({ body: text }).where(eq(rules.id, id)).run();
}

/** A source has another name now: the rules of its project go on taking it. No change of theirs: `updated_at` stays. */
export function renameInMatches(
  tx: Tx,
  projectId: number,
  { from, to }: { from: string; to: string },
): void {
  for (const rule of listRules(tx, projectId)) {
    const { id, project_id, name, created_at, updated_at, ...body } = rule;
    if (!body.match.sources.includes(from)) continue;
    const sources = body.match.sources.map((one) => (one === from ? to : one));
    const text = JSON.stringify({ ...body, match: { ...body.match, sources } } satisfies RuleBody);
    tx.orm.update(rules).set({ body: text }).where(eq(rules.id, id)).run();
  }
}

export function dropRule(tx: Tx, id: number): void {
  tx.orm.delete(rules).where(eq(rules.id, id)).run();
}

/** Throws 409 `code` listing the rules of the project that `names` picks out. */
export function mustBeUnnamed(
  reader: Reader,
  projectId: number,
  use: { code: ErrorCode; what: string; names: (rule: RuleBody) => boolean },
): void {
  const naming = listRules(reader, projectId).filter(use.names);
  refuseNamed(
    use,
    naming.map(({ name }) => name),
  );
}

/** Throws 409 `code` listing these rules, where there are any. */
export function refuseNamed(
  use: { code: ErrorCode; what: string },
  naming: readonly string[],
): void {
  if (naming.length === 0) return;
  throw new ServiceError(
    use.code,
    `Rules still name this ${use.what}: ${naming.join(", ")}.`.slice(0, 500),
    { details: naming.map((value) => ({ reason: "named_by_rule", value })) },
  );
}
