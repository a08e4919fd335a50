import { isDeepStrictEqual } from "node:util";
import { asc, eq } from "drizzle-orm";
import { type ErrorDetail, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { ladders, projects, rules } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { mustBeBelowLimit } from "./bounds.ts";
import { type LadderBody, type LadderInput, ladderPartOf, type StoredLadder } from "./ladder.ts";
import type { EscalationStep, LadderPart, RuleBody, StoredRule } from "./rule.ts";
import { membersAmong, strangers } from "./rule-references.ts";
import { sharedSchedules } from "./schedule-names.ts";

/** Ladders of the tenant, as they are stored. */

type Row = typeof ladders.$inferSelect;

const fromRow = ({ body, createdAt, updatedAt, ...row }: Row): StoredLadder => ({
  ...row,
  ...(JSON.parse(body) as LadderBody),
  created_at: createdAt,
  updated_at: updatedAt,
});

/** By name. */
export const listLadders = (reader: Reader): StoredLadder[] =>
  reader.orm.select().from(ladders).orderBy(asc(ladders.name)).all().map(fromRow);

/** Null where there is none of this name. */
export function findLadder(reader: Reader, name: string): StoredLadder | null {
  const row = reader.orm.select().from(ladders).where(eq(ladders.name, name)).get();
  return row === undefined ? null : fromRow(row);
}

/** Throws 404. */
export function getLadder(reader: Reader, name: string): StoredLadder {
  const ladder = findLadder(reader, name);
  if (ladder === null) throw notFound("ladder");
  return ladder;
}

/** Throws 409 for a taken name, 422 for people and schedules that it can't name and for one too many. */
export function insertLadder(tx: Tx, { name, ...body }: LadderInput): StoredLadder {
  mustBeFree(tx, name);
  mustBeBelowLimit(tx, "ladders");
  checkLadder(tx, body);
  const row = { name, body: JSON.stringify(body), createdAt: tx.at, updatedAt: tx.at };
  return fromRow(tx.orm.insert(ladders).values(row).returning().get());
}

/** Replaces its body, or its name; null where nothing is another. Throws 409 for a taken name. */
export function rewriteLadder(
  tx: Tx,
  before: StoredLadder,
  { name, ...body }: LadderInput,
): StoredLadder | null {
  const { id, name: called, created_at, updated_at, ...stored } = before;
  if (name === called && isDeepStrictEqual(stored, body)) return null;
  if (name !== called) mustBeFree(tx, name);
  const to = { name, body: JSON.stringify(body), updatedAt: tx.at };
  const row = tx.orm.update(ladders).set(to).where(eq(ladders.id, id)).returning().get();
  return row === undefined ? null : fromRow(row);
}

export function dropLadder(tx: Tx, id: number): void {
  tx.orm.delete(ladders).where(eq(ladders.id, id)).run();
}

/** What rules made in passing in a project refer to, by name; null: they have steps of their own. */
export function defaultLadderOf(
  reader: Reader,
  { defaultLadderId: id }: { defaultLadderId: number | null },
): string | null {
  if (id === null) return null;
  const of = reader.orm.select({ name: ladders.name }).from(ladders);
  return of.where(eq(ladders.id, id)).get()?.name ?? null;
}

/**
 * The ladder of a rule that is made in passing: the project's default, else steps of its own. `for`: an account that was
 * promised to be paged; a default that doesn't name it isn't taken. Every rule that nobody wrote asks here.
 */
export function ladderInPassing(
  reader: Reader,
  project: { defaultLadderId: number | null },
  own: { steps: () => EscalationStep[]; for?: string },
): { ladder: string | null; escalations: EscalationStep[] } {
  const ladder = defaultLadderOf(reader, project);
  const isTaken =
    ladder !== null &&
    (own.for === undefined ||
      getLadder(reader, ladder).steps.some(({ accounts }) => accounts.includes(own.for ?? "")));
  return isTaken ? { ladder, escalations: [] } : { ladder: null, escalations: own.steps() };
}

/** Whose default each ladder is, by the ladder's row. */
export function defaultsOf(reader: Reader): Map<number | null, string[]> {
  const rows = reader.orm
    .select({ id: projects.defaultLadderId, project: projects.name })
    .from(projects)
    .orderBy(asc(projects.name))
    .all();
  return new Map(
    [...Map.groupBy(rows, ({ id }) => id)].map(([id, of]) => [id, of.map((one) => one.project)]),
  );
}

/** The rules that refer to each ladder, as `project/rule`, by the ladder's row. */
export function rulesOfLadders(reader: Reader): Map<number | null, string[]> {
  const rows = reader.orm
    .select({ id: rules.ladderId, rule: rules.name, project: projects.name })
    .from(rules)
    .innerJoin(projects, eq(projects.id, rules.projectId))
    .orderBy(asc(projects.name), asc(rules.name))
    .all();
  return new Map(
    [...Map.groupBy(rows, ({ id }) => id)].map(([id, of]) => [
      id,
      of.map(({ project, rule }) => `${project}/${rule}`),
    ]),
  );
}

/** Throws 422 listing people who are no members, and schedules that aren't there or aren't shared. */
export function checkLadder(reader: Reader, { steps }: Pick<LadderBody, "steps">): void {
  const members = membersAmong(
    reader,
    steps.flatMap(({ accounts }) => accounts),
  );
  const shared = new Set(sharedSchedules(reader).map(({ home, name }) => `${home}/${name}`));
  const faults = (of: "accounts" | "schedules", known: ReadonlySet<string>, reason: string) =>
    steps.flatMap((step, i): ErrorDetail[] =>
      strangers(step[of], known, { field: `/steps/${i}/${of}`, reason }),
    );
  const people = faults("accounts", members, "not_a_member");
  if (people.length > 0)
    throw new ServiceError("not_a_member", "Accounts in the ladder don't exist here.", {
      details: people,
    });
  const schedules = faults("schedules", shared, "schedule_not_shared");
  if (schedules.length > 0)
    throw new ServiceError(
      "schedule_not_shared",
      "A ladder names schedules as {project}/{schedule}, and only shared ones.",
      { details: schedules },
    );
}

function mustBeFree(reader: Reader, name: string): void {
  if (findLadder(reader, name) !== null)
    throw new ServiceError("name_taken", "There is a ladder of this name.");
}

/**
 * The ladder that a rule's body means: the one that it names, the one that the rule had where it says nothing and has its
 * steps, else its own steps. Throws 422 for a ladder that there isn't, and for steps beside it that aren't its.
 */
export function ladderMeant(
  reader: Reader,
  { ladder, escalations }: RuleBody,
  before: StoredRule | null = null,
): LadderPart {
  const had = before?.ladder ?? null;
  const name = ladder === undefined ? sameSteps(before, escalations) && had : ladder;
  if (name === null || name === false) return { ladder: null, escalations };
  const part = ladderPartOf(knownLadder(reader, name, "/ladder"));
  if (escalations.length > 0 && !sameSteps(part, escalations))
    throw new ServiceError(
      "two_ladders",
      "The rule names a ladder and has other rungs besides: leave escalations out, or set ladder to null.",
      { details: [{ field: "/escalations", reason: "two_ladders", value: name }] },
    );
  return part;
}

/** Throws 422 where a field names a ladder that there isn't. */
export function knownLadder(reader: Reader, name: string, field: string): StoredLadder {
  const found = findLadder(reader, name);
  if (found !== null) return found;
  throw new ServiceError("unknown_ladder", "There is no such ladder.", {
    details: [{ field, reason: "unknown_ladder", value: name }],
  });
}

const sameSteps = (of: Pick<LadderPart, "escalations"> | null, steps: LadderPart["escalations"]) =>
  isDeepStrictEqual(of?.escalations, steps);

/** Those that name a schedule for which this holds. */
export function laddersWithSchedule(
  reader: Reader,
  isNamed: (name: string) => boolean,
): StoredLadder[] {
  return listLadders(reader).filter(({ steps }) =>
    steps.some(({ schedules }) => schedules.some(isNamed)),
  );
}

/**
 * A schedule or its project has another name now. No change of the ladder: its `updated_at` stays. The projects whose rules
 * refer to a ladder that names it.
 */
export function renameInLadders(tx: Tx, renamed: (name: string) => string): number[] {
  return listLadders(tx).flatMap(({ id, name, created_at, updated_at, ...body }) => {
    const steps = body.steps.map((step) => ({ ...step, schedules: step.schedules.map(renamed) }));
    if (isDeepStrictEqual(steps, body.steps)) return [];
    const text = JSON.stringify({ ...body, steps } satisfies LadderBody);
    tx.orm.update(ladders).set({ body: text }).where(eq(ladders.id, id)).run();
    return projectsOnLadder(tx, id);
  });
}

/** The rows of the projects whose rules refer to a ladder. */
export function projectsOnLadder(reader: Reader, ladderId: number): number[] {
  return reader.orm
    .selectDistinct({ id: rules.projectId })
    .from(rules)
    .where(eq(rules.ladderId, ladderId))
    .all()
    .map(({ id }) => id);
}

/** Throws 409 listing ladders that name a schedule so. */
export function mustBeInNoLadder(
  reader: Reader,
  what: string,
  isNamed: (name: string) => boolean,
): void {
  const naming = laddersWithSchedule(reader, isNamed).map(({ name }) => name);
  if (naming.length === 0) return;
  throw new ServiceError(
    "schedule_in_use",
    `Ladders still name this ${what}: ${naming.join(", ")}.`.slice(0, 500),
    { details: naming.map((value) => ({ reason: "named_by_ladder", value })) },
  );
}
