import { and, asc, eq, gt, isNull } from "drizzle-orm";
import { shortTime, timeFor } from "../../ground/kit/wall-time.ts";
import { accounts, askPeople, asks } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { clockOfPerson } from "../../people/reader-clock.ts";
import { membersAmong } from "../projects/rule-references.ts";
import { followed, holderOfStretch, holdersOfStretch } from "./holder.ts";
import { writeNote } from "./notes.ts";
import { createOverride, swapStretches } from "./overrides.ts";
import type { StoredSchedule } from "./schedule.ts";
import { scheduleById } from "./schedules.ts";

type AskRow = typeof asks.$inferSelect;

/** What an ask is about, in words and as its link's page shows it. */
interface ShownAsk {
  row: AskRow;
  schedule: string;
  /** "Sat 09:00 to Sun 09:00 Europe/Berlin". */
  when: string;
  /** The same of what is given in return; null: nothing is. */
  inReturn: string | null;
  /** Whose it is, by name. */
  whose: string;
}

const nameOf = (reader: Reader, id: string): string => {
  const found = reader.orm
    .select({ name: accounts.displayName, email: accounts.email })
    .from(accounts)
    .where(eq(accounts.id, id))
    .get();
  return found === undefined ? "somebody who was removed" : found.name || found.email;
};

/** Writes a stretch by the clock of `account`, or by the schedule's, by its name. */
function stretchFor(reader: Reader, account: string, timezone: string) {
  const now = Math.floor(reader.clock.now() / 1000);
  const clock = clockOfPerson(reader, account, timezone);
  return (from: number, until: number) =>
    `${shortTime(from, clock.zone, now)} to ${timeFor(clock, until, now)}`;
}

/** By the clock of `account`, who reads it. */
function shownAsk(reader: Reader, row: AskRow, account: string): ShownAsk | null {
  const stored = scheduleById(reader, row.scheduleId);
  if (stored === null) return null;
  const words = stretchFor(reader, account, stored.timezone);
  const { returnFrom, returnUntil } = row;
  return {
    row,
    schedule: `${stored.project} / ${stored.name}`,
    when: words(row.startsAt, row.endsAt),
    inReturn: returnFrom === null || returnUntil === null ? null : words(returnFrom, returnUntil),
    whose: nameOf(reader, row.accountId),
  };
}

/** An ask as one of those who are asked sees it; null for who isn't. `said`: whether they said no. */
export function findAsk(
  reader: Reader,
  { askId, accountId }: { askId: string; accountId: string },
): (ShownAsk & { said: string | null; takenBy: string | null }) | null {
  const row = reader.orm.select().from(asks).where(eq(asks.id, askId)).get();
  const asked = reader.orm
    .select({ said: askPeople.said })
    .from(askPeople)
    .where(and(eq(askPeople.askId, askId), eq(askPeople.accountId, accountId)))
    .get();
  const shown = row === undefined ? null : shownAsk(reader, row, accountId);
  if (shown === null || asked === undefined) return null;
  const { takenBy } = shown.row;
  return { ...shown, said: asked.said, takenBy: takenBy === null ? null : nameOf(reader, takenBy) };
}

/** What somebody may still answer, the next shift first. */
export function asksFor(reader: Reader, account: string): ShownAsk[] {
  const now = Math.floor(reader.clock.now() / 1000);
  return reader.orm
    .select({ ask: asks })
    .from(asks)
    .innerJoin(askPeople, eq(askPeople.askId, asks.id))
    .where(
      and(
        eq(askPeople.accountId, account),
        isNull(askPeople.said),
        eq(asks.state, "open"),
        gt(asks.startsAt, now),
      ),
    )
    .orderBy(asc(asks.startsAt))
    .limit(50)
    .all()
    .flatMap(({ ask }) => shownAsk(reader, ask, account) ?? []);
}

/** What an answer came to. `over`: the shift has begun. `changed`: it is no longer theirs to give; nothing was done. */
export type AskAnswered =
  | { kind: "unknown" | "over" | "changed" | "declined" | "yours" }
  | { kind: "taken"; by: string };

/** Takes the stretch, or says no: what has been said stays said. The first yes has it. Throws what `createOverride` throws. */
export function answerAsk(
  tx: Tx,
  who: { askId: string; accountId: string },
  verb: "take" | "no",
): AskAnswered {
  const ask = findAsk(tx, who);
  if (ask === null) return { kind: "unknown" };
  const { row, said, takenBy } = ask;
  if (row.state === "taken")
    return row.takenBy === who.accountId ? { kind: "yours" } : { kind: "taken", by: takenBy ?? "" };
  if (said !== null) return { kind: "declined" };
  if (row.startsAt <= tx.at) return { kind: "over" };
  if (row.state !== "open") return { kind: "changed" };
  return verb === "no" ? declined(tx, ask, who.accountId) : taken(tx, ask, who.accountId);
}

function declined(tx: Tx, ask: ShownAsk, account: string): AskAnswered {
  const { row } = ask;
  tx.orm
    .update(askPeople)
    .set({ said: "no" })
    .where(and(eq(askPeople.askId, row.id), eq(askPeople.accountId, account)))
    .run();
  if (askedOf(tx, row.id).every(({ said }) => said !== null)) {
    endAsk(tx, row, { state: "declined" });
    tellAskers(tx, ask, () => "Nobody takes it: everybody who was asked said no.");
  }
  tx.note({ topic: "oncall" });
  return { kind: "declined" };
}

function taken(tx: Tx, ask: ShownAsk, account: string): AskAnswered {
  const { row } = ask;
  const stored = scheduleById(tx, row.scheduleId);
  if (stored === null) return { kind: "unknown" };
  const schedule = followed(tx, stored);
  const given = { from: row.startsAt, until: row.endsAt };
  const { returnFrom, returnUntil } = row;
  const back =
    returnFrom === null || returnUntil === null ? null : { from: returnFrom, until: returnUntil };
  const stands =
    holderOfStretch(schedule, given) === row.accountId &&
    (back === null || (back.from > tx.at && holderOfStretch(schedule, back) === account));
  if (!stands) {
    endAsk(tx, row, { state: "changed" });
    tellAskers(
      tx,
      ask,
      () => "The schedule has changed since you asked. Nobody was put on call: ask again.",
    );
    return { kind: "changed" };
  }
  const one = { account_id: row.accountId, starts_at: given.from, ends_at: given.until };
  if (back === null)
    createOverride(tx, stored, {
      accountId: account,
      startsAt: given.from,
      endsAt: given.until,
      createdBy: account,
    });
  else {
    const other = { account_id: account, starts_at: back.from, ends_at: back.until };
    swapStretches(tx, stored, { one, other, createdBy: account });
  }
  endAsk(tx, row, { state: "taken", takenBy: account });
  const name = nameOf(tx, account);
  tellAskers(tx, ask, ({ whose, inReturn }) => {
    const more = inReturn === null ? "" : ` ${whose} has ${inReturn} in return.`;
    return `${name} takes it.${more}`;
  });
  for (const { accountId, said } of askedOf(tx, row.id))
    if (accountId !== account && said === null)
      tell(tx, ask, {
        account: accountId,
        line: () => `${name} has it. You have nothing to do.`,
      });
  return { kind: "yours" };
}

const askedOf = (reader: Reader, askId: string) =>
  reader.orm.select().from(askPeople).where(eq(askPeople.askId, askId)).all();

/** By compare-and-set: one transaction ends an ask. */
function endAsk(tx: Tx, row: AskRow, set: Pick<AskRow, "state"> & { takenBy?: string }): void {
  tx.orm
    .update(asks)
    .set(set)
    .where(and(eq(asks.id, row.id), eq(asks.state, "open")))
    .run();
  tx.note({ topic: "oncall" });
}

/** Tells people that they are asked, each by a link of their own. */
export function tellAsked(tx: Tx, row: AskRow, of: readonly string[]): void {
  for (const accountId of of) {
    const ask = shownAsk(tx, row, accountId);
    if (ask === null) return;
    const lines = [
      `${ask.schedule}: ${ask.when}`,
      ...(ask.inReturn === null ? [] : [`In return ${ask.whose} takes ${ask.inReturn}.`]),
      ...(row.note === "" ? [] : [`“${row.note}”`]),
      "Take it, or say no:",
    ];
    const title = `${ask.whose} asks you to take a shift`;
    writeNote(tx, { accountId, title, lines, path: "/oncall", askId: row.id });
  }
}

type LineFor = (own: ShownAsk) => string;

function tellAskers(tx: Tx, ask: ShownAsk, line: LineFor): void {
  const { accountId, askedBy } = ask.row;
  const there = membersAmong(tx, [accountId, askedBy]);
  for (const account of new Set([accountId, askedBy]))
    if (there.has(account)) tell(tx, ask, { account, line });
}

function tell(tx: Tx, ask: ShownAsk, { account, line }: { account: string; line: LineFor }): void {
  const own = shownAsk(tx, ask.row, account) ?? ask;
  writeNote(tx, {
    accountId: account,
    title: `${own.schedule}, ${own.when}`,
    lines: [line(own)],
    path: "/oncall",
  });
}

/**
 * While it doesn't stand: tells those whose shift it is that somebody takes it by hand, and what they have instead. `undone`: the
 * same once it is taken back.
 */
export function tellTaken(
  tx: Tx,
  stored: StoredSchedule,
  of: {
    from: number;
    until: number;
    by: string;
    inReturn?: { from: number; until: number } | undefined;
    undone?: boolean;
  },
): void {
  const { from, until, by, inReturn, undone = false } = of;
  const holders = holdersOfStretch(followed(tx, stored), { from, until });
  for (const holder of membersAmong(tx, holders)) {
    if (holder === by) continue;
    const words = stretchFor(tx, holder, stored.timezone);
    writeNote(tx, {
      accountId: holder,
      title: `${nameOf(tx, by)} ${undone ? "gives your shift back" : "takes your shift"}`,
      lines: [
        `${stored.project} / ${stored.name}: ${words(from, until)}`,
        ...(inReturn
          ? [
              undone
                ? `You no longer have ${words(inReturn.from, inReturn.until)}.`
                : `You have ${words(inReturn.from, inReturn.until)} in return.`,
            ]
          : []),
      ],
      path: "/oncall",
    });
  }
}
