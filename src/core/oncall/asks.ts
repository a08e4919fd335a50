import { eq, sql } from "drizzle-orm";
import * as z from "zod";
import { ServiceError } from "../../ground/kit/errors.ts";
import { list, person, text, time } from "../../ground/kit/fields.ts";
import { hexId } from "../../ground/kit/ids.ts";
import { rowsCounted } from "../../ground/store/rows-counted.ts";
import { askPeople, asks } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { getAccount } from "../../people/accounts.ts";
import { isManager } from "../../people/roles.ts";
import { membersAmong, strangers } from "../projects/rule-references.ts";
import { scheduleNamed } from "../projects/schedule-names.ts";
import { tellAsked } from "./ask-answers.ts";
import { followed, holderOfStretch } from "./holder.ts";
import { peopleOfLayers, type StoredSchedule } from "./schedule.ts";
import { findSchedule } from "./schedules.ts";
import { DAY } from "./zone.ts";

/** Asking others to take a shift: the first yes makes the overrides, in one transaction. */

const stretch = z.strictObject({ from: time, until: time.describe("Not included.") });

export const askWrite = z
  .strictObject({
    schedule: text(257, 3).describe("`{project}/{schedule}`."),
    from: time,
    until: time.describe("Not included; at most 90 days later."),
    of: list(person, 20).min(1, { error: "must not be empty" }),
    in_return: stretch.optional().meta({
      description:
        "For a swap: a time in a shift of the person who is asked, which the asker takes over.",
    }),
    note: text(500).default(""),
  })
  .meta({
    id: "AskWrite",
    examples: [
      {
        schedule: "ops/primary",
        from: 1_767_600_000,
        until: 1_767_686_400,
        of: ["email:bob@example.org"],
      },
    ],
  });
type AskInput = z.output<typeof askWrite>;

const LONGEST = 90 * DAY;
const bad = (field: string, reason: string): ServiceError =>
  new ServiceError(
    "invalid_ask",
    `The request for cover can't be made: ${field.slice(1)} ${reason}.`,
    {
      details: [{ field, reason }],
    },
  );

/**
 * Asks people to take a stretch. Throws 403 for who is no manager and takes no turns there; 422 for a schedule that there isn't,
 * a stretch that isn't the asker's own (for a manager: one person's), has begun or is too long, and for strangers.
 */
export function makeAsk(tx: Tx, by: string, input: AskInput): { id: string } {
  const stored = scheduleOf(tx, input.schedule);
  const schedule = followed(tx, stored);
  const manages = isManager(getAccount(tx, by).role);
  const people = [
    ...peopleOfLayers(stored.layers),
    ...schedule.overrides.map((one) => one.account_id),
  ];
  if (!manages && !people.includes(by))
    throw new ServiceError(
      "forbidden",
      "Only owners, admins and the people of the schedule may ask.",
    );
  const { from, until, in_return: back } = input;
  mustBeAhead(tx, { from, until }, "");
  if (back !== undefined) mustBeAhead(tx, back, "/in_return");
  const holder = holderOfStretch(schedule, input);
  if (holder === null) throw bad("/from", "must be in one person's shift until the end");
  if (holder !== by && !manages) throw bad("/from", "must be in a shift of your own until the end");
  const of = [...new Set(input.of)];
  const members = membersAmong(tx, of);
  const details = strangers(of, members, { field: "/of", reason: "not_a_member" });
  if (details.length > 0)
    throw new ServiceError("not_a_member", "A person who is asked has no account here.", {
      details,
    });
  if (of.includes(holder)) throw bad("/of", "must not name the person who has the shift");
  if (back !== undefined && of.some((account) => holderOfStretch(schedule, back) !== account))
    throw bad("/in_return", "must be a shift of the person who is asked");
  forgetAsks(tx, KEPT);
  mustHaveRoom(tx, holder);
  const id = hexId(tx.random);
  tx.orm
    .insert(asks)
    .values({
      id,
      scheduleId: stored.id,
      accountId: holder,
      askedBy: by,
      startsAt: from,
      endsAt: until,
      returnFrom: back?.from ?? null,
      returnUntil: back?.until ?? null,
      note: input.note,
      state: "open",
      createdAt: tx.at,
    })
    .run();
  for (const accountId of of) tx.orm.insert(askPeople).values({ askId: id, accountId }).run();
  const row = tx.orm.select().from(asks).where(eq(asks.id, id)).get();
  if (row !== undefined) tellAsked(tx, row, of);
  return { id };
}

/** Asks about one person's shifts that are kept. */
const MOST_ASKS = 200;
/** Seconds after the shift. */
const KEPT = 30 * DAY;

function mustHaveRoom(reader: Reader, account: string): void {
  if (rowsCounted(reader, asks, eq(asks.accountId, account)) < MOST_ASKS) return;
  throw new ServiceError(
    "too_many",
    `There are ${MOST_ASKS} requests for cover of that person's shifts already, which is the most.`,
  );
}

function scheduleOf(reader: Reader, name: string): StoredSchedule {
  const place = name.includes("/") ? scheduleNamed(reader, { projectId: 0, name }) : null;
  const found = place && findSchedule(reader, { id: place.projectId }, place.name);
  if (found) return found;
  throw new ServiceError("unknown_schedule", "There is no such schedule.", {
    details: [{ field: "/schedule", reason: "unknown_schedule", value: name }],
  });
}

function mustBeAhead(tx: Tx, at: { from: number; until: number }, field: string): void {
  if (at.from <= tx.at) throw bad(`${field}/from`, "has begun");
  if (at.until <= at.from) throw bad(`${field}/until`, "must be later than from");
  if (at.until - at.from > LONGEST)
    throw bad(`${field}/until`, "must be at most 90 days after from");
}

/** Forgets asks whose shift is over for so many seconds. */
function forgetAsks(tx: Tx, after: number): void {
  tx.orm
    .delete(asks)
    .where(sql`max(${asks.endsAt}, coalesce(${asks.returnUntil}, 0)) < ${tx.at - after}`)
    .run();
}
