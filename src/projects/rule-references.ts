import { type ErrorCode, type ErrorDetail, ServiceError } from "../kit/errors.ts";
import type { Reader } from "../store/store.ts";
import type { RuleBody } from "./rule.ts";

/** Throws 422 listing every account, schedule and action that a rule names and that isn't there. */
export function checkRuleReferences(reader: Reader, projectId: number, rule: RuleBody): void {
  const members: ErrorDetail[] = [];
  const schedules: ErrorDetail[] = [];
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
      const found = reader
        .sql("SELECT 1 FROM schedules WHERE project_id = ? AND name = ?")
        .get(projectId, name);
      if (found === undefined)
        schedules.push({
          field: `/escalations/${i}/schedules/${j}`,
          reason: "unknown_schedule",
          value: name,
        });
    });
  });
  const actions = (rule.actions ?? []).flatMap((id, i): ErrorDetail[] => {
    const found = reader
      .sql("SELECT 1 FROM actions WHERE project_id = ? AND id = ?")
      .get(projectId, id);
    return found === undefined
      ? [{ field: `/actions/${i}`, reason: "unknown_action", value: id }]
      : [];
  });
  refuse(
    "not_a_member",
    "Accounts in the ladder are not members of this tenant.",
    [...members, ...schedules, ...actions],
    members.length,
  );
  refuse(
    "unknown_schedule",
    "Schedules in the ladder do not exist in this project.",
    [...schedules, ...actions],
    schedules.length,
  );
  refuse(
    "unknown_action",
    "Actions that the rule names do not exist in this project.",
    actions,
    actions.length,
  );
}

function refuse(code: ErrorCode, message: string, details: ErrorDetail[], faults: number): void {
  if (faults > 0) throw new ServiceError(code, message, { details });
}

export function isMember(reader: Reader, accountId: string): boolean {
  return reader.sql("SELECT 1 FROM accounts WHERE id = ?").get(accountId) !== undefined;
}
