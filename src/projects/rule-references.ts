import { and, eq } from "drizzle-orm";
import { type ErrorCode, type ErrorDetail, ServiceError } from "../kit/errors.ts";
import { accounts, actions, schedules } from "../store/schema.ts";
import type { Reader } from "../store/store.ts";
import type { RuleBody } from "./rule.ts";

/** Throws 422 listing every account, schedule and action that a rule names and that isn't there. */
export function checkRuleReferences(reader: Reader, projectId: number, rule: RuleBody): void {
  const members: ErrorDetail[] = [];
  const unknown: ErrorDetail[] = [];
  rule.escalations.forEach((step, i) => {
    step.accounts.forEach((account, j) => {
      if (!isMember(reader, account))
        members.push({
          field: `/escalations/${i}/accounts/${j}`,
          reason: "not_a_member",
          value: account,
        });
    });
    step.schedules.forEach((name, j) => {
      if (!hasSchedule(reader, projectId, name))
        unknown.push({
          field: `/escalations/${i}/schedules/${j}`,
          reason: "unknown_schedule",
          value: name,
        });
    });
  });
  const gone = (rule.actions ?? []).flatMap((id, i): ErrorDetail[] =>
    hasAction(reader, projectId, id)
      ? []
      : [{ field: `/actions/${i}`, reason: "unknown_action", value: id }],
  );
  refuse(
    "not_a_member",
    "Accounts in the ladder are not members of this tenant.",
    [...members, ...unknown, ...gone],
    members.length,
  );
  refuse(
    "unknown_schedule",
    "Schedules in the ladder do not exist in this project.",
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

function refuse(code: ErrorCode, message: string, details: ErrorDetail[], faults: number): void {
  if (faults > 0) throw new ServiceError(code, message, { details });
}

export function isMember(reader: Reader, accountId: string): boolean {
  const found = reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .get();
  return found !== undefined;
}

function hasSchedule(reader: Reader, projectId: number, name: string): boolean {
  const found = reader.orm
    .select({ id: schedules.id })
    .from(schedules)
    .where(and(eq(schedules.projectId, projectId), eq(schedules.name, name)))
    .get();
  return found !== undefined;
}

function hasAction(reader: Reader, projectId: number, id: string): boolean {
  const found = reader.orm
    .select({ id: actions.id })
    .from(actions)
    .where(and(eq(actions.projectId, projectId), eq(actions.id, id)))
    .get();
  return found !== undefined;
}
