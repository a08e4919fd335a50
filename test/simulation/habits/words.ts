import type { Fact } from "../facts.ts";

/**
 * What rules for new, unusual and missing messages must do, from the contract's text, the times of the events and what happened
 * to the box. A kill may take the counts of a key's last minute: so each question has the answer of all that came, and of what
 * is surely kept. Times are Unix seconds of the box.
 */

export const HOUR = 3600;
export const DAY = 24 * HOUR;
export const WEEK = 7 * DAY;
const MINUTE = 60;

/** So many events of one text, in one second. */
export interface Burst {
  at: number;
  text: string;
  source: string;
  host: string;
  level: number;
  n: number;
}

export interface Asked {
  newDays: number;
  newWindow: number;
  factor: number;
  atLeast: number;
  /** Of the window of what is unusual. */
  hours: number;
  /** What is unusual is told apart by host, and counts what its rule took. */
  byHost: boolean;
  /** What is missing is a source, or each text; and of which level. */
  missing: "text" | "source";
  missingLevel: number;
}

/** Whether it must be so, must not, or may. */
export type Answer = "yes" | "no" | "either";
const answer = (all: boolean, sure: boolean): Answer =>
  all === sure ? (all ? "yes" : "no") : "either";

interface Heard {
  last: number;
  /** A kill came since: a minute of what it said may be forgotten. */
  isBlurred: boolean;
  since: number;
  after: { all: number; sure: number };
}

interface Hours {
  all: Map<number, number>;
  sure: Map<number, number>;
  /** Those of the last minute, without the first of them. */
  lately: { at: number; n: number }[];
}

interface Rhythm {
  /** `silence`: before it, at its longest. */
  came: { at: number; n: number; sure: number; silence: number; blur: number }[];
  isBlurred: boolean;
}

/** What is known. Plain, so that a restore can put back an older one. */
export interface Memory {
  begun: number | null;
  /** When the rules were written. */
  made: number;
  sources: Map<string, number>;
  heard: Map<string, Heard>;
  hours: Map<string, Hours>;
  rhythms: Map<string, Rhythm>;
  downs: { until: number; seconds: number }[];
  setBack: number[];
}

export const nothing = (made: number): Memory => ({
  begun: null,
  made,
  sources: new Map(),
  heard: new Map(),
  hours: new Map(),
  rhythms: new Map(),
  downs: [],
  setBack: [],
});

const dayOf = (at: number) => Math.floor(at / DAY);

/** Seconds between the two in which it ran. */
function ran({ downs }: Memory, from: number, at: number): number {
  return downs.reduce(
    (left, { until, seconds }) => left - (until > from && until <= at ? seconds : 0),
    at - from,
  );
}

function silence(memory: Memory, last: number, at: number): number {
  const backs = memory.setBack.filter((back) => back <= at);
  return ran(memory, Math.max(last, ...backs), at);
}

/** The box was off, killed, or saw its clock jump. */
export function readFact(memory: Memory, fact: Fact, before: number): void {
  if (fact.what === "started") note(memory, fact.wall, fact.down);
  if (fact.what === "jumped") note(memory, before, fact.by);
  if (fact.what !== "started" && fact.what !== "jumped") return;
  for (const one of memory.heard.values()) one.isBlurred = true;
  for (const one of memory.rhythms.values()) {
    one.isBlurred = true;
    const last = one.came.at(-1)?.at ?? 0;
    one.came.forEach((came, i) => {
      const isFirst = (one.came[i - 1]?.at ?? 0) <= last - MINUTE;
      if (came.at > last - MINUTE && !isFirst) came.sure = 0;
    });
  }
  for (const { sure, lately } of memory.hours.values())
    for (const { at, n } of lately.splice(0)) add(sure, at, -n);
}

function note(memory: Memory, until: number, seconds: number): void {
  if (seconds >= MINUTE) memory.downs.push({ until, seconds });
  if (seconds <= -MINUTE) memory.setBack.push(until);
}

const add = (hours: Map<number, number>, at: number, n: number) => {
  const hour = Math.floor(at / HOUR);
  hours.set(hour, (hours.get(hour) ?? 0) + n);
};

/** Whether it is new to the rule, where its level is taken. */
export function hearNew(memory: Memory, burst: Burst, asked: Asked): Answer {
  const { at, text, source } = burst;
  const begun = memory.sources.get(source) ?? at;
  memory.sources.set(source, begun);
  const learns = at - begun < DAY;
  const heard = memory.heard.get(text);
  const silent = heard === undefined ? Infinity : quiet(memory, heard.last, at);
  const all = silent + (heard?.isBlurred === true ? MINUTE : 0);
  if (heard === undefined || all >= DAY) {
    const after = { all: learns ? 0 : all, sure: learns ? 0 : silent };
    // Below a day it goes on with the return before, if that is remembered.
    const isSure = silent >= DAY;
    const since = isSure || heard === undefined ? at : heard.since;
    const sure = isSure ? after.sure : Math.min(heard?.after.sure ?? 0, after.sure);
    memory.heard.set(text, { last: at, isBlurred: false, since, after: { ...after, sure } });
  } else Object.assign(heard, { last: at, isBlurred: false });
  const now = memory.heard.get(text) as Heard;
  const isIn = at >= now.since && at - now.since < Math.min(asked.newWindow, DAY);
  const enough = asked.newDays * DAY + MINUTE;
  return answer(
    !learns && isIn && now.after.all >= enough,
    !learns && isIn && now.after.sure >= enough,
  );
}

const quiet = (memory: Memory, last: number, at: number) =>
  at - last < DAY ? at - last : ran(memory, last, at);

/** Counts what comes by the hour, and says whether it is more than usual. */
export function hearMore(memory: Memory, burst: Burst, asked: Asked): Answer {
  const { at, text, host, n } = burst;
  memory.begun ??= at;
  const key = asked.byHost ? `${text} ${host}` : text;
  const mine = memory.hours.get(key) ?? { all: new Map(), sure: new Map(), lately: [] };
  memory.hours.set(key, mine);
  add(mine.all, at, n);
  add(mine.sure, at, n);
  const isFirst = mine.lately.every((one) => Math.abs(at - one.at) >= MINUTE);
  mine.lately = mine.lately.filter((one) => Math.abs(at - one.at) < MINUTE);
  mine.lately.push({ at, n: isFirst ? 0 : n });
  const begun = asked.byHost ? memory.made : memory.begun;
  const isMore = (present: Map<number, number>, before: Map<number, number>) => {
    const hour = Math.floor(at / HOUR);
    const part = (at % HOUR) / HOUR;
    const within = (hours: Map<number, number>, last: number, share: number) => {
      let sum = (hours.get(last - asked.hours) ?? 0) * (1 - part) + (hours.get(last) ?? 0) * share;
      for (let h = last - asked.hours + 1; h < last; h++) sum += hours.get(h) ?? 0;
      return sum;
    };
    const weeks = [1, 2, 3, 4]
      .map((week) => hour - week * 168)
      .filter((last) => (last - asked.hours) * HOUR >= begun)
      .filter((last) => wasUp(memory, (last - asked.hours) * HOUR, (last + 1) * HOUR))
      .map((last) => within(before, last, part))
      .sort((a, b) => a - b);
    if (weeks.length < 2) return false;
    const half = weeks.length / 2;
    const usual = ((weeks[Math.ceil(half) - 1] ?? 0) + (weeks[Math.floor(half)] ?? 0)) / 2;
    const count = within(present, hour, 1);
    return count >= asked.atLeast && count > asked.factor * usual;
  };
  return answer(isMore(mine.all, mine.sure), isMore(mine.sure, mine.all));
}

const wasUp = ({ downs }: Memory, from: number, until: number) =>
  downs.every((down) => down.until <= from || down.until - down.seconds >= until);

export const missingKey = ({ text, source }: Burst, asked: Asked): string =>
  asked.missing === "source" ? `source ${source}` : text;

export function hearComing(memory: Memory, burst: Burst, asked: Asked): void {
  if (burst.level < asked.missingLevel) return;
  if (asked.missing === "source" && burst.source !== "app") return;
  const key = missingKey(burst, asked);
  const rhythm = memory.rhythms.get(key) ?? { came: [], isBlurred: false };
  memory.rhythms.set(key, rhythm);
  const { at, n } = burst;
  const days = [...Map.groupBy(rhythm.came, (one) => dayOf(one.at))];
  const [, latest = []] =
    days.filter(([day]) => day <= dayOf(at)).sort(([a], [b]) => b - a)[0] ?? [];
  const before = latest.at(-1)?.at ?? null;
  const isNew = before === null || dayOf(before) <= dayOf(at) - 14;
  rhythm.came.push({
    ...{ at, n, sure: n, blur: rhythm.isBlurred ? MINUTE : 0 },
    silence: isNew ? Infinity : silence(memory, before, at),
  });
  rhythm.isBlurred = false;
}

/** When each that is silent is missing: not before the one time, and at the other at the latest; null: it isn't watched. */
export interface Due {
  key: string;
  last: number;
  from: number;
  /** Infinity: it may also never be. */
  until: number;
}

/** Its longest pauses three times, and a minute. */
const MORE = MINUTE;

export function dueMissing(memory: Memory, now: number): Due[] {
  const found: Due[] = [];
  for (const [key, { came, isBlurred }] of memory.rhythms) {
    // Of days that a clock which was set back has before it nothing is said.
    const lasts = [...Map.groupBy(came, ({ at }) => dayOf(at)).values()].map(
      (day) => day.at(-1)?.at,
    );
    const last = Math.max(...lasts.map((at = now + 1) => (at <= now ? at : 0)));
    const mine = came.filter(({ at }) => dayOf(at) > dayOf(last) - 14 && dayOf(at) <= dayOf(last));
    const sum = (of: (one: (typeof mine)[number]) => number) =>
      mine.reduce((all, one) => all + of(one), 0);
    const longest = Math.max(...mine.map((one) => one.silence));
    const longer = Math.max(...mine.map((one) => one.silence + one.blur));
    if (sum(({ n }) => n) < 336 || longest >= WEEK) continue;
    const isSure = sum(({ sure }) => sure) >= 336 && longer < WEEK;
    const after = (seconds: number) => dueAfter(memory, last, { seconds, now });
    const until = after(Math.max(HOUR, 3 * longer) + MORE);
    const from = after(Math.max(HOUR, 3 * longest) + (isBlurred ? 0 : MORE));
    found.push({ key, last, from, until: isSure ? until : Infinity });
  }
  return found;
}

function dueAfter(
  memory: Memory,
  last: number,
  { seconds, now }: { seconds: number; now: number },
): number {
  const from = Math.max(last, ...memory.setBack.filter((back) => back <= now));
  return memory.downs
    .filter(({ until }) => until > from)
    .toSorted((a, b) => a.until - b.until)
    .reduce(
      (due, down) => (down.until - down.seconds < due ? due + down.seconds : due),
      from + seconds,
    );
}
