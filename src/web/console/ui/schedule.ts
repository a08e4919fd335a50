import { currentOnCall, previewOf, previewRows } from "../../../core/oncall/answers.ts";
import { listOverrides } from "../../../core/oncall/overrides.ts";
import type {
  Current,
  PreviewAnswer,
  StoredOverride,
  StoredSchedule,
} from "../../../core/oncall/schedule.ts";
import { getSchedule } from "../../../core/oncall/schedules.ts";
import { Zone } from "../../../core/oncall/zone.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { type PageCall, pathOf } from "../screen.ts";
import {
  blocksOf,
  type CalendarBlock,
  type CalendarRow,
  calendarRows,
  MOST_BLOCKS,
} from "./calendar-rows.ts";
import { askedRange, type CalendarRange } from "./local-time.ts";
import { type PeopleNames, peopleHues, peopleNames } from "./people-names.ts";
import { dayOf, hourOf } from "./times.ts";

/** A schedule as its page shows it: all parts of the page draw from this one reading. */
export interface ShownSchedule {
  project: Project;
  stored: StoredSchedule;
  overrides: StoredOverride[];
  /** Of its page, below the base. */
  path: string;
  /** Which days are shown, for links: "" or "from=2026-11-16&days=7". */
  keep: string;
  range: CalendarRange;
  rows: CalendarRow[];
  /** Whether all of the range could be followed and drawn. */
  isWhole: boolean;
  names: PeopleNames;
  hues(account: string): number;
  /** A stretch as long as it is, two months at most, where the range cuts it. */
  whole(block: CalendarBlock): CalendarBlock;
}

/** How far beyond the range a stretch that it cuts is followed, seconds. */
const BEYOND = 62 * 86_400;

export const asked = ({ tenant: { store, slices } }: PageCall) => ({ reader: store, slices });

/** The schedule of an address. Throws 404. */
export function scheduleOf(
  reader: Reader,
  { project: name = "", schedule = "" }: PageCall["params"],
): { project: Project; stored: StoredSchedule } {
  const project = getProject(reader, name);
  return { project, stored: getSchedule(reader, project, schedule) };
}

/** What layers are, wherever they are shown. */
export const LAYERS_ARE =
  "A layer is people who take turns, always or in some hours of the week. Where two overlap, the later one rings.";

export const schedulePage = ({ project, name }: Pick<StoredSchedule, "project" | "name">): string =>
  pathOf("oncall", project, name);

/** What of a query says which days are shown. */
export function daysKept(query: URLSearchParams): string {
  const kept = new URLSearchParams();
  for (const name of ["from", "days"]) {
    const value = query.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept.toString();
}

export async function showSchedule(call: PageCall): Promise<ShownSchedule> {
  const { tenant, query, now } = call;
  const { project, stored } = scheduleOf(tenant.store, call.params);
  const overrides = listOverrides(tenant.store, stored);
  const range = askedRange(stored.timezone, query, now);
  const parts = await previewRows(asked(call), { ...stored, overrides }, range);
  const whole = await wholeOf(call, { stored, overrides, range });
  return {
    project,
    stored,
    overrides,
    range,
    rows: calendarRows(parts),
    names: peopleNames(tenant.store),
    hues: peopleHues(tenant.store),
    whole,
    isWhole:
      parts.final.until >= range.until &&
      parts.final.shifts.length + parts.final.gaps.length <= MOST_BLOCKS,
    path: schedulePage(stored),
    keep: daysKept(query),
  };
}

async function wholeOf(
  call: PageCall,
  of: Pick<ShownSchedule, "stored" | "overrides" | "range">,
): Promise<ShownSchedule["whole"]> {
  const { from, until } = of.range;
  const look = async (range: { from: number; until: number }) =>
    blocksOf(await previewStored(call, of, range));
  const before = (await look({ from: Math.max(0, from - BEYOND), until: from })).at(-1);
  const [after] = await look({ from: until, until: until + BEYOND });
  // One that goes on beyond what was looked at has no end that is known.
  const isCut = ({ starts_at, ends_at }: CalendarBlock) =>
    starts_at === from - BEYOND || ends_at === until + BEYOND;
  const same = (one: CalendarBlock, other: CalendarBlock | undefined) =>
    other !== undefined &&
    !isCut(other) &&
    one.account_id === other.account_id &&
    one.layer === other.layer &&
    one.override_id === other.override_id;
  return (block) => ({
    ...block,
    ...(block.starts_at === from && before && same(block, before)
      ? { starts_at: before.starts_at }
      : {}),
    ...(block.ends_at === until && after && same(block, after) ? { ends_at: after.ends_at } : {}),
  });
}

/** The final schedule of some stretch, which needn't be on the page. */
export function previewStored(
  call: PageCall,
  { stored, overrides }: Pick<ShownSchedule, "stored" | "overrides">,
  range: { from: number; until: number },
): Promise<PreviewAnswer> {
  return previewOf(asked(call), { ...stored, overrides }, range);
}

/** An address of the page with these days, and more. */
export function pageWith(
  { path, keep }: Pick<ShownSchedule, "path" | "keep">,
  more: string,
): string {
  const query = [keep, more].filter((part) => part !== "").join("&");
  return query === "" ? path : `${path}?${query}`;
}

/** "Mon 16 Nov 09:00 – Mon 23 Nov 09:00" on one clock; the second day only where it is another. */
export function stretchWords(at: { starts_at: number; ends_at: number }, zone: string): string {
  const [first, last] = [dayOf(at.starts_at, zone), dayOf(at.ends_at, zone)];
  const end = hourOf(at.ends_at, zone);
  return `${first} ${hourOf(at.starts_at, zone)} – ${first === last ? end : `${last} ${end}`}`;
}

/** Whether two zones' clocks show another time at `at`. */
export function clocksDiffer(one: string, other: string, at: number): boolean {
  return new Zone(one).offsetAt(at) !== new Zone(other).offsetAt(at);
}

/** "+1 h", "−8 h 30 min": how far the reader's clock is ahead of the schedule's. */
export function aheadWords(of: string, than: string, at: number): string {
  const minutes = (new Zone(of).offsetAt(at) - new Zone(than).offsetAt(at)) / 60;
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `${minutes < 0 ? "−" : "+"}${hours} h${rest > 0 ? ` ${rest} min` : ""}`;
}

const DAY = 86_400;
export const LOOK_DAYS = 14;
/** One schedule as the list of all shows it. */
export interface SeatNow {
  stored: StoredSchedule;
  current: Current;
  /** What follows the one who has it now: null where the fortnight says nothing of it. */
  next: CalendarBlock | null;
  /** Of the next 14 days, the one that is now included. */
  gaps: CalendarBlock[];
  /** The reader's own that begins next in that time. */
  mine: CalendarBlock | null;
}

export async function seatNow(call: PageCall, stored: StoredSchedule): Promise<SeatNow> {
  const { now, tenant } = call;
  const current = await currentOnCall(asked(call), stored, now);
  const overrides = listOverrides(tenant.store, stored);
  const range = { from: now, until: now + LOOK_DAYS * DAY };
  const blocks = blocksOf(await previewStored(call, { stored, overrides }, range));
  const end = current.on_call ? current.ends_at : now;
  const next = blocks.find(
    ({ starts_at, account_id }) =>
      end !== null && starts_at >= end && (current.on_call || account_id !== null),
  );
  const gaps = blocks.filter(({ account_id }) => account_id === null);
  const mine = blocks.find(
    ({ account_id, starts_at }) => account_id === call.who.accountId && starts_at > now,
  );
  return { stored, current, next: next ?? null, gaps, mine: mine ?? null };
}
