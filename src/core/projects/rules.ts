import { isDeepStrictEqual } from "node:util";
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { type ErrorCode, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { ladders, rules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { moveSeries } from "./count-series.ts";
import { type LadderBody, ladderPartOf } from "./ladder.ts";
import { missingSubject } from "./missing.ts";
import { bodyOfRule, type LadderPart, type RuleBody, ruleCreate, type StoredRule } from "./rule.ts";

const columns = {
  id: rules.id,
  project_id: rules.projectId,
  name: rules.name,
  body: rules.body,
  created_at: rules.createdAt,
  updated_at: rules.updatedAt,
  ladder_name: ladders.name,
  ladder_body: ladders.body,
};

const selectRules = (reader: Reader) =>
  reader.orm.select(columns).from(rules).leftJoin(ladders, eq(ladders.id, rules.ladderId));

/** A row of the table and of its ladder, their bodies still text. */
export interface RuleRow {
  id: number;
  project_id: number;
  name: string;
  body: string;
  created_at: number;
  updated_at: number;
  ladder_name: string | null;
  ladder_body: string | null;
}

/** What a rule does that was written before a field was there: the field's default. Only `max_open` had no bound then. */
const { name: _, ...defaults } = ruleCreate.parse({ name: "-" });
const writtenBefore = { ...defaults, max_open: 0 };

/** The one place in which a rule's ladder becomes its steps. */
export function ruleOf(row: RuleRow): StoredRule {
  const { body, ladder_name: name, ladder_body, ...rest } = row;
  const written = JSON.parse(body) as RuleBody;
  const match = { ...defaults.match, ...written.match };
  const own = { ...rest, ...writtenBefore, ...written, match, ladder: null };
  if (name === null || ladder_body === null) return own;
  return { ...own, ...ladderPartOf({ name, ...(JSON.parse(ladder_body) as LadderBody) }) };
}

/** As a rule's body is stored: a ladder of the tenant and its steps stand elsewhere. */
function stored({ ladder, ...body }: RuleBody): string {
  const own = (ladder ?? null) === null ? body : { ...body, escalations: [] };
  return JSON.stringify(own satisfies RuleBody);
}

/** Every project's rules. */
export function listAllRules(reader: Reader): StoredRule[] {
  return selectRules(reader).all().map(ruleOf);
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
  return selectRules(reader)
    .where(eq(rules.projectId, projectId))
    .orderBy(asc(rules.name))
    .all()
    .map(ruleOf);
}

/** Null where the project has none of this name. */
export function findRuleNamed(reader: Reader, projectId: number, name: string): StoredRule | null {
  const row = selectRules(reader)
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

/** Every project's rules that refer to a ladder, by age. */
export function rulesOnLadder(reader: Reader, ladderId: number): StoredRule[] {
  return selectRules(reader)
    .where(eq(rules.ladderId, ladderId))
    .orderBy(asc(rules.id))
    .all()
    .map(ruleOf);
}

const ruleById = (reader: Reader, id: number): StoredRule | null => {
  const row = selectRules(reader).where(eq(rules.id, id)).get();
  return row === undefined ? null : ruleOf(row);
};

/** The row of the ladder that a body names; that it is there was looked at before. */
function ladderIdOf(reader: Reader, name: string | null | undefined): number | null {
  if ((name ?? null) === null) return null;
  const of = reader.orm.select({ id: ladders.id }).from(ladders);
  return of.where(eq(ladders.name, name as string)).get()?.id ?? null;
}

/** Writes a new rule as it stands: what else a rule needs is the verb's (alerts/rules.ts). */
export function insertRule(
  tx: Tx,
  rule: { projectId: number; name: string; body: RuleBody & LadderPart },
): StoredRule {
  const { projectId, name, body } = rule;
  const row = { projectId, name, body: stored(body), ladderId: ladderIdOf(tx, body.ladder) };
  const { id } = tx.orm
    .insert(rules)
    .values({ ...row, createdAt: tx.at, updatedAt: tx.at })
    .returning({ id: rules.id })
    .get();
  return ruleById(tx, id) as StoredRule;
}

/** Replaces a rule's body. Null where it says the same already, also in another order: a version may have written it so. */
export function rewriteRule(
  tx: Tx,
  before: StoredRule,
  body: RuleBody & LadderPart,
): StoredRule | null {
  const { passes, pass_after_minutes, ...own } = body;
  if (isDeepStrictEqual(bodyOfRule(before), own)) return null;
  const to = { body: stored(own), ladderId: ladderIdOf(tx, own.ladder), updatedAt: tx.at };
  tx.orm.update(rules).set(to).where(eq(rules.id, before.id)).run();
  return ruleById(tx, before.id);
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

/** Rules of every project whose own ladders name it, by age. */
export function rulesWithSchedule(reader: Reader, { project, name }: NamedOf): StoredRule[] {
  const there = `${project.name}/`;
  const isNamed: SQL =
    name === null
      ? sql`substr(n.value, 1, length(${there})) = ${there}`
      : sql`n.value = ${there + name} OR (n.value = ${name} AND ${rules.projectId} = ${project.id})`;
  return selectRules(reader)
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
  const body = bodyOfRule(rule);
  const escalations = body.escalations.map((step) => ({
    ...step,
    schedules: step.schedules.map(renamed),
  }));
  const text = stored({ ...body, escalations });
  tx.orm.update(rules).set({ body: text }).where(eq(rules.id, rule.id)).run();
}

/** Whether a rule names a source. */
export const takesSource = (rule: RuleBody, name: string): boolean =>
  rule.match.sources.includes(name) || missingSubject(rule.missing).source === name;

/** A source has another name now: the rules of its project go on taking it. No change of theirs: `updated_at` stays. */
export function renameInMatches(
  tx: Tx,
  projectId: number,
  { from, to }: { from: string; to: string },
): void {
  for (const rule of listRules(tx, projectId)) {
    const body = bodyOfRule(rule);
    if (!takesSource(body, from)) continue;
    const sources = body.match.sources.map((one) => (one === from ? to : one));
    const missing = missingSubject(body.missing).source === from ? { source: to } : body.missing;
    const after = { ...body, missing, match: { ...body.match, sources } };
    moveSeries(tx, projectId, { from: body, to: after });
    const text = stored(after);
    tx.orm.update(rules).set({ body: text }).where(eq(rules.id, rule.id)).run();
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
