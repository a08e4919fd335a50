import { and, eq, sql } from "drizzle-orm";
import { notFound, ServiceError } from "../../ground/kit/errors.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { rowsCounted } from "../../ground/store/rows-counted.ts";
import { overrides } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { membersAmong } from "../projects/rule-references.ts";
import type { StoredOverride, StoredSchedule } from "./schedule.ts";
import { lookAtShifts } from "./shift-checks.ts";

const LONGEST = 90 * 86_400;
/** Of one schedule: every evaluation looks at all of them. */
export const MOST_OVERRIDES = 1000;

/** Past and future, in the order they were made: of two the newer wins. */
export function listOverrides(reader: Reader, schedule: StoredSchedule): StoredOverride[] {
  return reader.orm
    .select({
      id: overrides.id,
      account_id: overrides.accountId,
      starts_at: overrides.startsAt,
      ends_at: overrides.endsAt,
      created_at: overrides.createdAt,
      created_by: overrides.createdBy,
    })
    .from(overrides)
    .where(eq(overrides.scheduleId, schedule.id))
    .orderBy(sql`rowid`)
    .all();
}

/** An omitted start is now. Throws 422 for a stranger, an empty or backward window, or one over 90 days. */
export function createOverride(
  tx: Tx,
  schedule: StoredSchedule,
  wanted: { accountId: string; startsAt: number | undefined; endsAt: number; createdBy: string },
): { id: string } {
  const startsAt = wanted.startsAt ?? tx.at;
  if (!membersAmong(tx, [wanted.accountId]).has(wanted.accountId)) {
    throw new ServiceError("not_a_member", "The account is not a member of this tenant.", {
      details: [
        { field: "/account_id", reason: "not_a_member", value: wanted.accountId.slice(0, 128) },
      ],
    });
  }
  const fault =
    startsAt >= wanted.endsAt
      ? "must be later than starts_at"
      : wanted.endsAt - startsAt > LONGEST
        ? "must be at most 90 days after starts_at"
        : null;
  if (fault !== null) {
    throw new ServiceError("invalid_override", `The override's end ${fault}.`, {
      details: [{ field: "/ends_at", reason: fault }],
    });
  }
  if (rowsCounted(tx, overrides, eq(overrides.scheduleId, schedule.id)) >= MOST_OVERRIDES)
    throw new ServiceError(
      "invalid_override",
      `A schedule holds at most ${MOST_OVERRIDES} overrides: delete old ones.`,
    );
  const id = hexId(tx.random);
  tx.orm
    .insert(overrides)
    .values({
      id,
      scheduleId: schedule.id,
      accountId: wanted.accountId,
      startsAt,
      endsAt: wanted.endsAt,
      createdAt: tx.at,
      createdBy: wanted.createdBy,
    })
    .run();
  lookAtShifts(tx, schedule.id);
  return { id };
}

/** One stretch on call, [starts_at, ends_at) in Unix seconds. */
export interface Stretch {
  account_id: string;
  starts_at: number;
  ends_at: number;
}

/** Each takes the other's stretch: two overrides, both or none. Throws as `createOverride`. */
export function swapStretches(
  tx: Tx,
  schedule: StoredSchedule,
  { one, other, createdBy }: { one: Stretch; other: Stretch; createdBy: string },
): { ids: string[] } {
  const taken = ([by, from]: readonly [Stretch, Stretch]) =>
    createOverride(tx, schedule, {
      accountId: by.account_id,
      createdBy,
      startsAt: from.starts_at,
      endsAt: from.ends_at,
    }).id;
  return { ids: [taken([one, other]), taken([other, one])] };
}

/** Throws 404. */
export function deleteOverride(tx: Tx, schedule: StoredSchedule, id: string): void {
  const { changes } = tx.orm
    .delete(overrides)
    .where(and(eq(overrides.scheduleId, schedule.id), eq(overrides.id, id)))
    .run();
  if (changes === 0) throw notFound("override");
  lookAtShifts(tx, schedule.id);
}
