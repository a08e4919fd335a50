import { eq, isNotNull, sql } from "drizzle-orm";
import * as z from "zod";
import type { AddressRules } from "../../ground/kit/addresses.ts";
import { invalid } from "../../ground/kit/errors.ts";
import { list, text, time } from "../../ground/kit/fields.ts";
import type { Sealer } from "../../ground/kit/sealer.ts";
import { checkUrl } from "../../ground/kit/url.ts";
import type { AwaySpan } from "../../ground/store/columns.ts";
import { away } from "../../ground/store/schema.ts";
import { sealPlace } from "../../ground/store/sealed.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";

/** When people are away. It takes nobody off a schedule: their shifts are marked, and they are asked to find cover. */

export const MOST_AWAY = 100;

const span = z.strictObject({
  from: time,
  until: time.describe("Not included."),
  note: text(256).default(""),
});

/** The body that replaces a person's times away. */
export const awayWrite = z
  .strictObject({
    spans: list(span, MOST_AWAY),
    ical: text(2048).nullable().optional().meta({
      description:
        "A calendar's https address, read each hour: its busy all-day events are times away, too. null: none; left out, or as it is shown: stays.",
    }),
  })
  .meta({
    id: "AwayWrite",
    examples: [{ spans: [{ from: 1_767_600_000, until: 1_767_900_000, note: "skiing" }] }],
  });
export type AwayInput = z.output<typeof awayWrite>;

const readSpan = z.object({ from: z.int(), until: z.int(), note: z.string() });

export const awayAnswer = z
  .object({
    spans: z.array(readSpan),
    ical: z.string().nullable().meta({ description: "Its host and last characters; null: none." }),
    ical_spans: z.array(readSpan).meta({ description: "What the calendar said last." }),
    ical_read_at: z.int().nullable(),
    ical_error: z.string().nullable().meta({
      description: "Why it could not be read; what it said before stays.",
    }),
  })
  .meta({ id: "Away" });
export type AwayAnswer = z.output<typeof awayAnswer>;

const NONE: AwayAnswer = {
  spans: [],
  ical: null,
  ical_spans: [],
  ical_read_at: null,
  ical_error: null,
};

export function readAway(reader: Reader, account: string): AwayAnswer {
  const row = reader.orm.select().from(away).where(eq(away.id, account)).get();
  if (row === undefined) return NONE;
  return {
    spans: row.spans,
    ical: row.shownIcal,
    ical_spans: row.icalSpans,
    ical_read_at: row.icalReadAt,
    ical_error: row.icalError,
  };
}

/** Replaces a person's times away. Throws 400 naming a field, and 403 for an address that may not be called. */
export function writeAway(
  tx: Tx,
  account: string,
  { input, sealer, rules }: { input: AwayInput; sealer: Sealer; rules: AddressRules },
): AwayAnswer {
  const details = input.spans.flatMap(({ from, until }, i) =>
    until > from ? [] : [{ field: `/spans/${i}/until`, reason: "must be later than from" }],
  );
  if (details.length > 0) throw invalid(details);
  const before = readAway(tx, account);
  const spans = input.spans.toSorted((a, b) => a.from - b.from || a.until - b.until);
  const { ical = before.ical } = input;
  const calendar = ical === before.ical ? {} : calendarOf(ical, { account, sealer, rules });
  const set = { spans, ...calendar };
  tx.orm
    .insert(away)
    .values({ id: account, ...set })
    .onConflictDoUpdate({ target: away.id, set })
    .run();
  tx.note({ topic: "oncall" });
  tx.note({ topic: "people" });
  return readAway(tx, account);
}

/** What a new address changes: it is read at once, and what another one said is gone. */
function calendarOf(
  ical: string | null,
  { account, sealer, rules }: { account: string; sealer: Sealer; rules: AddressRules },
) {
  const fresh = { icalSpans: [], icalError: null, icalReadAt: null };
  if (ical === null || ical === "")
    return { ...fresh, sealedIcal: null, shownIcal: null, icalNext: null };
  const { protocol, host } = checkUrl(ical, rules, "/ical");
  if (protocol !== "https:") throw invalid([{ field: "/ical", reason: "must begin with https" }]);
  const sealedIcal = sealer.seal(ical, sealPlace("away", "sealed_ical", account));
  return { ...fresh, sealedIcal, shownIcal: `${host}/…${ical.slice(-4)}`, icalNext: 0 };
}

/** The times away of these people, their calendars' included; who has none isn't in it. */
export function timesAway(
  reader: Reader,
  accounts: Iterable<string>,
): ReadonlyMap<string, readonly AwaySpan[]> {
  const rows = reader.orm
    .select({ id: away.id, spans: away.spans, ical: away.icalSpans })
    .from(away)
    .where(sql`${away.id} IN (SELECT value FROM json_each(${JSON.stringify([...accounts])}))`)
    .all();
  const all = rows.map(({ id, spans, ical }) => [id, [...spans, ...ical]] as const);
  return new Map(all.filter(([, spans]) => spans.length > 0));
}

/** Who is away at some time after `now`, Unix seconds. */
export function peopleAway(reader: Reader, now: number): Map<string, readonly AwaySpan[]> {
  const ids = reader.orm.select({ id: away.id }).from(away).all();
  const all = timesAway(
    reader,
    ids.map(({ id }) => id),
  );
  return new Map([...all].filter(([, spans]) => spans.some(({ until }) => until > now)));
}

/** Whether any of a stretch, Unix seconds, lies in a time away. */
export const isAway = (
  spans: readonly AwaySpan[] | undefined,
  at: { starts_at: number; ends_at: number },
): boolean => spans?.some(({ from, until }) => from < at.ends_at && at.starts_at < until) ?? false;

/** Seconds between two readings of a calendar. */
const HOUR = 3600;

/** A calendar that is to be read now, with its sealed address. */
export interface DueCalendar {
  account: string;
  sealed: string;
}

/** Calendars that are due, at most `most`. After a jump of the clock none waits for longer than an hour. */
export function dueCalendars(reader: Reader, now: number, most: number): DueCalendar[] {
  const rows = reader.orm
    .select({ account: away.id, sealed: away.sealedIcal })
    .from(away)
    .where(sql`${away.icalNext} <= ${now} OR ${away.icalNext} > ${now + HOUR}`)
    .limit(most)
    .all();
  return rows.flatMap(({ account, sealed }) => (sealed === null ? [] : [{ account, sealed }]));
}

/** When the next calendar is to be read; null: there is none. */
export function nextCalendar(reader: Reader): number | null {
  const at = sql<number | null>`min(${away.icalNext})`;
  return reader.orm.select({ at }).from(away).where(isNotNull(away.icalNext)).get()?.at ?? null;
}

/** Writes what a calendar said, or why it said nothing, unless its person gave another address meanwhile. */
export function calendarRead(
  tx: Tx,
  { account, sealed }: DueCalendar,
  said: { spans: AwaySpan[]; error: null } | { error: string },
): void {
  const found = tx.orm.select().from(away).where(eq(away.id, account)).get();
  if (found?.sealedIcal !== sealed) return;
  const set = "spans" in said ? { icalSpans: said.spans, icalReadAt: tx.at } : {};
  tx.orm
    .update(away)
    .set({ ...set, icalError: said.error, icalNext: tx.at + HOUR })
    .where(eq(away.id, account))
    .run();
  tx.note({ topic: "people" });
  if ("spans" in said && JSON.stringify(said.spans) !== JSON.stringify(found.icalSpans))
    tx.note({ topic: "oncall" });
}
