import {
  calendarRead,
  type DueCalendar,
  dueCalendars,
  nextCalendar,
  peopleAway,
} from "../core/oncall/away.ts";
import { askedAboutShift, followAwayShifts, forgetAsked } from "../core/oncall/away-shifts.ts";
import { busyDays } from "../core/oncall/busy-days.ts";
import { COVER, coverCapability } from "../core/oncall/cover-capability.ts";
import { noteIsTold, type OnCallNote, waitingNotes, writeNote } from "../core/oncall/notes.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { Egress } from "../ground/kit/egress.ts";
import type { Log } from "../ground/kit/log.ts";
import type { Sealer } from "../ground/kit/sealer.ts";
import type { Slices } from "../ground/kit/slices.ts";
import { shortTime, timeFor } from "../ground/kit/wall-time.ts";
import type { AwaySpan } from "../ground/store/columns.ts";
import { sealPlace } from "../ground/store/sealed.ts";
import type { Store } from "../ground/store/store.ts";
import { linkBase, tenantOf } from "../out/paging/capability.ts";
import type { ContactSender } from "../out/paging/send.ts";
import { clockOfPerson } from "../people/reader-clock.ts";
import { tellPerson } from "./person-note.ts";
import type { Job } from "./scheduler.ts";

interface AwayWatch {
  store: Store;
  log: Log;
  sealer: Sealer;
  egress: Egress;
  slices: Slices;
  contacts: ContactSender;
  publicUrl: string;
}

/** Jobs for people who are away: their calendars are read, they are asked about their shifts, and what they are told is sent. */
export const awayJobs = (deps: AwayWatch): Job[] => [
  { name: "times away", wokenBy: ["people"], run: (now) => readCalendars(deps, now) },
  { name: "away shifts", wokenBy: ["oncall", "people"], run: (now) => askPeople(deps, now) },
  { name: "on-call notes", wokenBy: ["oncall"], run: (now) => sendNotes(deps, now) },
];

const CALENDAR = { timeoutMs: 10_000, maxBytes: 1024 * 1024 };
const AT_ONCE = 4;

async function readCalendars(deps: AwayWatch, now: number): Promise<number | null> {
  const { store } = deps;
  const due = dueCalendars(store, now, AT_ONCE);
  await Promise.all(
    due.map(async (one) => {
      const said = await calendarSaid(deps, one, now);
      store.write((tx) => calendarRead(tx, one, said));
    }),
  );
  const next = due.length === AT_ONCE ? now : nextCalendar(store);
  return next === null ? null : Math.max(next, now) * 1000;
}

async function calendarSaid(
  { sealer, egress }: AwayWatch,
  { account, sealed }: DueCalendar,
  now: number,
): Promise<{ spans: AwaySpan[]; error: null } | { error: string }> {
  const url = sealer.open(sealed, sealPlace("away", "sealed_ical", account));
  if (url === null) return { error: "its address can't be decrypted: give it again" };
  const { error, status, body, truncated } = await egress.send({ method: "GET", url, ...CALENDAR });
  if (error !== null) return { error };
  if (status === null || status < 200 || status > 299) return { error: `status ${status}` };
  if (truncated) return { error: "it is longer than 1 MiB" };
  const spans = busyDays(body, now);
  return spans === null ? { error: "it is no calendar" } : { spans, error: null };
}

const LOOK_SECONDS = 6 * 3600;

/** Each shift is asked about once: one transaction writes that, and what is told. */
async function askPeople({ store, slices }: AwayWatch, now: number): Promise<number | null> {
  if (peopleAway(store, now).size === 0) return null;
  const shifts = await slices.run(followAwayShifts(store, now));
  if (shifts.length > 0)
    store.write((tx) => {
      forgetAsked(tx);
      const fresh = shifts.filter((shift) => askedAboutShift(tx, shift));
      for (const [accountId, own] of Map.groupBy(fresh, ({ account }) => account)) {
        const lines = own.map(({ project, schedule, starts_at, ends_at, timezone }) => {
          const clock = clockOfPerson(tx, accountId, timezone);
          const from = shortTime(starts_at, clock.zone, now);
          return `${project} / ${schedule}: ${from} to ${timeFor(clock, ends_at, now)}`;
        });
        writeNote(tx, {
          accountId,
          title: "You are away, and on call",
          lines: [...lines.slice(0, MOST_LINES), "You stay on call until somebody else takes it."],
          path: "/oncall",
        });
      }
    });
  return (now + LOOK_SECONDS) * 1000;
}

const MOST_LINES = 10;
const MOST_NOTES = 200;
const AGAIN = 60;

async function sendNotes(deps: AwayWatch, now: number) {
  const { store, contacts, log, publicUrl } = deps;
  const waiting = waitingNotes(store, MOST_NOTES);
  if (waiting.length === 0) return null;
  const base = linkBase(store, publicUrl);
  const left = await Promise.all(
    waiting.map(async (note) => {
      const { id, accountId, title, lines, until } = note;
      const link = base === null ? null : base + pathOf(deps, note);
      const text = { id: `oncall-${id}`, title, lines, link };
      const sent = await tellPerson({ store, contacts }, accountId, { note: text, takes });
      if (sent === "later" && unixSeconds(store.clock) < until) return true;
      if (sent !== "told") log.warn({ account: accountId }, "no contact took a note about a shift");
      store.write((tx) => noteIsTold(tx, id));
      return false;
    }),
  );
  const isMore = waiting.length === MOST_NOTES && left.includes(false);
  if (isMore) return now * 1000;
  return left.includes(true) ? (now + AGAIN) * 1000 : null;
}

function pathOf({ store, sealer }: AwayWatch, { path, askId, accountId }: OnCallNote): string {
  if (askId === null) return path;
  const right = { tenantId: tenantOf(store), askId, accountId };
  return `${COVER}/${coverCapability(sealer, right)}`;
}

/** A call is for pages alone. */
const takes = (kind: string): boolean => kind !== "voice";
