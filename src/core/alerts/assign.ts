import * as z from "zod";
import { ServiceError } from "../../ground/kit/errors.ts";
import { list, person } from "../../ground/kit/fields.ts";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Tx } from "../../ground/store/store.ts";
import { onCallNow } from "../oncall/duty.ts";
import { projectOf } from "../projects/projects.ts";
import { scheduleReference } from "../projects/rule.ts";
import { usableNames } from "../projects/schedule-names.ts";
import { type AlertRow, getAlertRow } from "./alert.ts";
import { noteAlert } from "./apply.ts";
import { happen } from "./life/happen.ts";
import { mustStand } from "./verbs.ts";

export const assignWrite = z
  .strictObject({
    accounts: list(person, 20).optional(),
    schedules: list(scheduleReference, 20)
      .optional()
      .meta({ description: "As the ladders of the alert's project name them." }),
    keep_ladder: z.boolean().optional().meta({
      description: "true: the ladder continues, too. false: its further rungs don't run.",
    }),
  })
  .refine(({ accounts = [], schedules = [] }) => accounts.length + schedules.length > 0, {
    error: "give accounts or schedules",
  })
  .meta({ id: "AlertAssign", examples: [{ schedules: ["primary"], keep_ladder: true }] });
type AlertAssign = z.output<typeof assignWrite>;

/**
 * Pages these people now and makes the alert theirs, the level as it is. An acknowledged alert is open again until one of
 * them takes it. Throws 404; 409 alert_resolved; 422 not_a_member, unknown_schedule, nobody_on_call.
 */
export function assignAlert(
  tx: Tx,
  id: number,
  { by, assign }: { by: string; assign: AlertAssign },
): AlertRow {
  const seen = getAlertRow(tx, id);
  mustStand(seen);
  const accounts = assigned(tx, seen, assign);
  const { schedules = [], keep_ladder: keep = false } = assign;
  const row = happen(tx, seen, { what: "assigned", by, accounts, schedules, keep });
  noteAlert(tx, row);
  return row;
}

/** Those who are named and whoever the schedules have on call now, each once. */
function assigned(tx: Tx, row: AlertRow, { accounts = [], schedules = [] }: AlertAssign): string[] {
  refuse(
    "not_a_member",
    "/accounts",
    accounts.filter((account) => !isThere(tx, MEMBER, [account])),
  );
  const projectId = row.project_id;
  const usable = schedules.length === 0 ? null : usableNames(tx, projectOf(tx, projectId));
  refuse(
    "unknown_schedule",
    "/schedules",
    schedules.filter((name) => !usable?.has(name)),
  );
  const duty = schedules.flatMap((name) => onCallNow(tx, { projectId, name }, tx.at));
  const all = [...new Set([...accounts, ...duty])];
  if (all.length === 0)
    throw new ServiceError("nobody_on_call", "The schedules have nobody on call now.");
  return all;
}

const MEMBER = "SELECT 1 FROM accounts WHERE id = ?";

function isThere(tx: Tx, query: string, of: SqlValue[]): boolean {
  return tx.sql<SqlValue[]>(query).get(...of) !== undefined;
}

function refuse(code: "not_a_member" | "unknown_schedule", field: string, bad: string[]): void {
  const [value] = bad;
  if (value === undefined) return;
  const message =
    code === "not_a_member" ? "There is no such account." : "There is no such schedule.";
  throw new ServiceError(code, message, { details: [{ field, reason: code, value }] });
}
