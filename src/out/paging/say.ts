import { codePoints, cut } from "../../ground/kit/text.ts";
import { type ReaderClock, shortTime, timeFor } from "../../ground/kit/wall-time.ts";
import type { EventBody } from "../outbox/event.ts";
import type { EventNames } from "../outbox/event-names.ts";
import { asLine, describe, leadOf, type Message, names } from "../outbox/message.ts";
import type { DirectMessage } from "../services/direct-message.ts";

/** Alerts named one by one in a message; of the others it says how many. */
const MOST_NAMED = 50;

/** What their lines have together, and each at least, in characters: the first may not take the place of the others. */
const ALL_NAMED = 900;
const NAMED = 50;

/** One alert of a message. */
export interface PagedAlert {
  event: EventBody;
  said: EventNames | null;
}

/** Several alerts as one message, oldest first: each is named. `ack`: how it is answered; `clock`: the reader's. */
export function pageMessage(
  paged: readonly [PagedAlert, ...PagedAlert[]],
  {
    id,
    link,
    ack,
    clock,
  }: {
    id: string;
    link: (alertId: string) => string | null;
    ack: DirectMessage["ack"];
    clock: ReaderClock;
  },
): DirectMessage {
  const [{ event: first, said }] = paged;
  const events = paged.map(({ event }) => event);
  const level = Math.max(...events.map((event) => event.level));
  const base = {
    purpose: "page" as const,
    id,
    level,
    ack,
    code: null,
    events,
    said,
    link: link(first.alert_id),
  };
  const words = describe(first, { said, isLed: true, clock });
  if (paged.length === 1) {
    const lead =
      said === null
        ? ""
        : leadOf(first, said, { clock: (at) => timeFor(clock, at, first.timestamp), who: names });
    return { ...base, title: short(words.title), lines: [lead, ...linesOf(words)].filter(Boolean) };
  }
  const lines = named(events, (event) => describe(event).title);
  return {
    ...base,
    title: `${paged.length} alerts: ${words.title} and ${paged.length - 1} more`,
    lines,
  };
}

/** What a device shows whole. */
const LONGEST_TITLE = 65;

const short = (title: string) =>
  codePoints(title) <= LONGEST_TITLE ? title : `${cut(title, LONGEST_TITLE - 1).trimEnd()}…`;

function linesOf({ details, people, facts, links }: Message): string[] {
  return [...details, ...people, facts, ...links.map(asLine)].filter(Boolean);
}

/** What became of alerts that the person was told of: of one all that is known, of several a line each. */
export function noteMessage(
  all: readonly [PagedAlert, ...PagedAlert[]],
  { link, clock }: { link: (alertId: string) => string | null; clock: ReaderClock },
): DirectMessage {
  const [{ event: first, said }] = all;
  const events = all.map(({ event }) => event);
  const words = describe(first, { said, clock });
  const base = {
    purpose: "note" as const,
    id: `${events.at(-1)?.event_id}`,
    ack: null,
    code: null,
    level: Math.max(...events.map(({ level }) => level)),
    link: link(first.alert_id),
    events,
    said,
  };
  if (all.length === 1) return { ...base, title: short(words.title), lines: linesOf(words) };
  const title = `${all.length} alerts: ${words.title} and ${all.length - 1} more`;
  return { ...base, title, lines: named(events, (event) => describe(event).title) };
}

/** A line for each, as many as can be read; of the others how many they are. */
function named(events: readonly EventBody[], say: (event: EventBody) => string): string[] {
  const most = Math.max(NAMED, Math.floor(ALL_NAMED / events.length));
  const shown = events
    .slice(0, MOST_NAMED)
    .map((event) => cut(`${event.alert_id}: ${say(event)}`, most));
  const more = events.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])];
}

/** The code that proves a contact. */
export function codeMessage(code: string, id: string): DirectMessage {
  const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
  return {
    purpose: "code",
    id,
    title: `Your code for box: ${spaced}`,
    lines: ["Type it back within 15 minutes. If you didn't ask for it, ignore this."],
    level: 0,
    link: null,
    ack: null,
    code,
    events: [],
    said: null,
  };
}

/** Shows that pages get through. */
export function testMessage(id: string): DirectMessage {
  return {
    purpose: "test",
    id,
    title: "Test from box: a page would reach you here",
    lines: [],
    level: 0,
    link: null,
    ack: null,
    code: null,
    events: [],
    said: null,
  };
}

/** A shift whose beginning is checked. Times in Unix seconds. */
export interface ShiftFacts {
  /** The same for one schedule, so that the newer takes the older one's place. */
  id: string;
  /** `payments / primary`. */
  schedule: string;
  clock: ReaderClock;
  startsAt: number;
  endsAt: number | null;
  now: number;
}

/** Says that a shift begins: that it is shown is what is wanted to know. */
export function shiftMessage(facts: ShiftFacts, link: string | null): DirectMessage {
  const { id, schedule, clock, startsAt, endsAt, now } = facts;
  const when = (at: number) => shortTime(at, clock.zone, now);
  const from = startsAt > now ? ` from ${when(startsAt)}` : "";
  const until = endsAt === null ? "" : ` until ${when(endsAt)}`;
  const zone = from + until === "" ? "" : clock.label;
  const title = `You're on call for ${schedule}${from}${until}${zone}.`;
  return {
    purpose: "shift",
    id,
    title,
    lines: [],
    level: 0,
    link,
    ack: null,
    code: null,
    events: [],
    said: null,
  };
}
