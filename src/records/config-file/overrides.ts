import * as z from "zod";
import { createOverride, deleteOverride, listOverrides } from "../../core/oncall/overrides.ts";
import type { StoredOverride, StoredSchedule } from "../../core/oncall/schedule.ts";
import { text, time } from "../../ground/kit/fields.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { idsOf, type People } from "./people.ts";
import { at } from "./pointer.ts";
import { writtenTime } from "./written-time.ts";

/** Overrides in a configuration: those that aren't over, in the order in which they were made. */

export const overrideConfig = z.strictObject({
  person: text(320, 1),
  starts_at: time,
  ends_at: time,
});
export type OverrideConfig = z.output<typeof overrideConfig>;

/** As `overrideConfig`, with times in the schedule's zone or as Unix seconds. */
export const fileOverride = overrideConfig.extend({
  starts_at: writtenTime,
  ends_at: writtenTime,
});

/** A schedule's overrides that end after `after`, Unix seconds. */
export function readOverrides(
  reader: Reader,
  schedule: StoredSchedule,
  { people, after }: { people: People; after: number },
): OverrideConfig[] {
  return standing(reader, schedule, after).map(({ account_id, starts_at, ends_at }) => ({
    person: people.emailOf(account_id),
    starts_at,
    ends_at,
  }));
}

/**
 * Makes a schedule's overrides equal to `wanted`, apart from those that are over. Where two overlap the later in the
 * list wins, so all from the first difference on are made again. Throws as making an override does.
 */
export function applyOverrides(
  tx: Tx,
  schedule: StoredSchedule,
  { wanted, people, by }: { wanted: readonly OverrideConfig[]; people: People; by: string },
): void {
  const ids = wanted.map(({ person }, i) => at(`/overrides/${i}`, () => idOf(people, person)));
  const future = [...wanted.entries()].filter(([, { ends_at }]) => ends_at > tx.at);
  const there = standing(tx, schedule, tx.at);
  let same = 0;
  for (const [i, { starts_at, ends_at }] of future) {
    const one = there[same];
    const isIt = one?.account_id === ids[i] && one?.starts_at === starts_at;
    if (!isIt || one?.ends_at !== ends_at) break;
    same += 1;
  }
  for (const { id } of there.slice(same)) deleteOverride(tx, schedule, id);
  for (const [i, { starts_at: startsAt, ends_at: endsAt }] of future.slice(same)) {
    const accountId = ids[i] ?? "";
    at(`/overrides/${i}`, () =>
      createOverride(tx, schedule, { accountId, startsAt, endsAt, createdBy: by }),
    );
  }
}

const idOf = (people: People, person: string) => idsOf(people, [person], "/person")[0] ?? "";

const standing = (reader: Reader, schedule: StoredSchedule, after: number): StoredOverride[] =>
  listOverrides(reader, schedule).filter(({ ends_at }) => ends_at > after);
