import { eq, sql } from "drizzle-orm";
import { type ErrorCode, type ErrorDetail, ServiceError } from "../../ground/kit/errors.ts";
import { accounts, actions, projects } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import { missingSubject } from "./missing.ts";
import type { RuleBody } from "./rule.ts";
import { usableNames } from "./schedule-names.ts";

const none: ReadonlySet<string> = new Set();

/** Throws 422 listing every account, schedule and action that a rule names and that isn't there, 400 for parts that don't go together. */
export function checkRuleReferences(reader: Reader, projectId: number, rule: RuleBody): void {
  checkMissing(rule);
  const paged = rule.escalations.flatMap((step) => step.accounts);
  const isScheduled = rule.escalations.some((step) => step.schedules.length > 0);
  const known = {
    accounts: membersAmong(reader, paged),
    schedules: isScheduled ? schedulesOf(reader, projectId) : none,
    actions: rule.actions?.length ? actionsOf(reader, projectId) : none,
  };
  const members = rule.escalations.flatMap((step, i) =>
    strangers(step.accounts, known.accounts, {
      field: `/escalations/${i}/accounts`,
      reason: "not_a_member",
    }),
  );
  const unknown = rule.escalations.flatMap((step, i) =>
    strangers(step.schedules, known.schedules, {
      field: `/escalations/${i}/schedules`,
      reason: "unknown_schedule",
    }),
  );
  const gone = strangers(rule.actions ?? [], known.actions, {
    field: "/actions",
    reason: "unknown_action",
  });
  refuse(
    "not_a_member",
    "Accounts in the ladder are not members of this tenant.",
    [...members, ...unknown, ...gone],
    members.length,
  );
  refuse(
    "unknown_schedule",
    "Schedules in the ladder do not exist in this project, nor are they shared.",
    [...unknown, ...gone],
    unknown.length,
  );
  refuse(
    "unknown_action",
    "Actions that the rule names do not exist in this project.",
    gone,
    gone.length,
  );
}

/** What is missing doesn't come: nothing of it can be counted, last, or be new. */
function checkMissing({ missing, match, fire_after, for_minutes }: RuleBody): void {
  if (missing === null) return;
  const beside = {
    "/match/first_seen_days": match.first_seen_days !== null,
    "/match/unusual": match.unusual !== null,
    "/match/sources": missingSubject(missing).source !== null && match.sources.length > 0,
    "/fire_after/count": fire_after.count > 1,
    "/fire_after/distinct_sources": fire_after.distinct_sources > 1,
    "/for_minutes": for_minutes > 0,
  };
  const details = Object.entries(beside)
    .filter(([, isGiven]) => isGiven)
    .map(([field]) => ({ field, reason: "not_with_missing" }));
  refuse(
    "invalid_request",
    "These fields can't be used together with missing.",
    details,
    details.length,
  );
}

function refuse(code: ErrorCode, message: string, details: ErrorDetail[], faults: number): void {
  if (faults > 0) throw new ServiceError(code, message, { details });
}

/** A detail for each name of a list that isn't known, by its place in the list. null names nobody. */
export function strangers(
  named: readonly (string | null)[],
  known: ReadonlySet<string>,
  fault: { field: string; reason: string },
): ErrorDetail[] {
  return named.flatMap((value, i) =>
    value === null || known.has(value)
      ? []
      : [{ field: `${fault.field}/${i}`, reason: fault.reason, value }],
  );
}

/** Which of these are accounts here: one question, however many there are, and one value bound. */
export function membersAmong(reader: Reader, ids: readonly string[]): ReadonlySet<string> {
  if (ids.length === 0) return none;
  const rows = reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(sql`${accounts.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`)
    .all();
  return new Set(rows.map(({ id }) => id));
}

function schedulesOf(reader: Reader, projectId: number): ReadonlySet<string> {
  const project = reader.orm
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .where(eq(projects.id, projectId))
    .get();
  return project === undefined ? none : usableNames(reader, project);
}

function actionsOf(reader: Reader, projectId: number): ReadonlySet<string> {
  const rows = reader.orm
    .select({ id: actions.id })
    .from(actions)
    .where(eq(actions.projectId, projectId))
    .all();
  return new Set(rows.map(({ id }) => id));
}
