import { levelName } from "../../ground/kit/level.ts";
import { cut, ellipsis, inOneLine, titleLine } from "../../ground/kit/text.ts";
import { namedClock, type ReaderClock, wallTime } from "../../ground/kit/wall-time.ts";
import type { EventBody, EventKind } from "./event.ts";
import type { ByName, EventNames, Link } from "./event-names.ts";
import { groupedWords } from "./grouped.ts";

/** An event in words, for whatever people read: what is wrong, where, how bad, since when, and who is on it. */
export interface Message {
  /** One line: level or state, project, and what the alert is called. */
  readonly title: string;
  /** What was logged if the title doesn't say it, the identifiers, and the labels that tell it from others, each on its own line. */
  readonly details: readonly string[];
  /** A sentence each: whom it pages and why, who is next and when, who has it, how it ended. */
  readonly people: readonly string[];
  /** One line: level, count, times. */
  readonly facts: string;
  /** Where the alert is seen, when the box has a public address. */
  readonly link: string | null;
  /** Other addresses: the runbook first, then what the sender sent along. */
  readonly links: readonly Link[];
}

/** What the words need beside the event's body. */
interface MessageContext {
  /** Where people see the alert; null: nowhere that they could be led to. */
  link?: string | null;
  /** Names and times that were written with the event; null where nothing was. */
  said?: EventNames | null;
  /** Whose times it says; left out: UTC's. */
  clock?: ReaderClock;
  /** The reader is told by `leadOf` what brought it up, and who is next. */
  isLed?: boolean;
}

const LONGEST_TITLE = 140;
const LONGEST_DETAIL = 700;
const LONGEST_SENTENCE = 240;
const LONGEST_NAME = 60;
const LONGEST_PROJECT = 24;
const MOST_LABELS = 6;

/** Says an event in words. Plain text, escaped by nobody yet; the same input always makes the same words. */
export function describe(
  event: EventBody,
  { link = null, said = null, isLed = false, clock = namedClock("UTC") }: MessageContext = {},
): Message {
  if (said?.together !== undefined)
    return { ...groupedWords(event, said.together), people: [], facts: "", link, links: [] };
  if (said?.note !== undefined) {
    const { title, lines: details, link: to } = said.note;
    return { title, details, people: [], facts: "", link: to, links: [] };
  }
  const title = drillTitle(event, headline(event));
  return {
    title,
    // What the title says whole isn't said twice.
    details: details(event, said ?? {}).filter((line, i) => i > 0 || !title.endsWith(`: ${line}`)),
    people: people(event, said ?? {}, { isLed, clock }).map((sentence) =>
      ellipsis(inOneLine(sentence), LONGEST_SENTENCE),
    ),
    facts: facts(event, clock),
    link,
    links: linksToldIn(said ?? {}),
  };
}

/** A title of at most so many characters that says of a drill that it is one, whoever worded it. */
export function drillTitle(event: EventBody, title: string): string {
  return cut(event.drill ? `DRILL · ${title}` : title, LONGEST_TITLE);
}

/** The message as plain text, one part a line. */
export function plainText({ title, details, people, facts, link, links }: Message): string {
  const addresses = [...(link === null ? [] : [link]), ...links.map(asLine)];
  return [title, ...details, ...people, facts, ...addresses].filter(Boolean).join("\n");
}

/** An address with its name, where there is no markup for it. */
export function asLine({ text, href }: Link): string {
  return `${text}: ${href}`;
}

/** `CRITICAL shop: payment 4711 failed`: the level first, because devices cut the end. */
function headline(event: EventBody): string {
  const project = ellipsis(inOneLine(event.project), LONGEST_PROJECT);
  const what = titleInEvent(event);
  return what === ""
    ? `${stateInTitle(event)}: ${project}`
    : `${stateInTitle(event)} ${project}: ${what}`;
}

/** `CRITICAL`, `Resolved`. */
export function stateInTitle({ event, level }: EventBody): string {
  switch (event) {
    case "alert.acknowledged":
      return "Acknowledged";
    case "alert.resolved":
      return "Resolved";
    case "alert.test":
      return "Test";
    case "integration.disabled":
      return "CHANNEL DISABLED";
    default:
      return levelName(level).toUpperCase();
  }
}

const isOfNoAlert = (event: EventKind): boolean =>
  event === "alert.test" || event === "integration.disabled" || event === "digest";

/** What the event's alert is called; empty where it is about none. */
export function titleInEvent({ event, title, last_message, template }: EventBody): string {
  if (isOfNoAlert(event)) return "";
  return inOneLine(title ?? "") || titleLine(last_message) || titleLine(template);
}

/** A mail's subject: a title whose level, `CRITICAL shop: …`, stands in brackets, `[Critical] shop: …`. */
export function subjectOf(title: string, level: number): string {
  const name = levelName(level);
  const word = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
  const [, before = "", rest = null] = /^(DRILL · )?(.*)$/s.exec(title) ?? [];
  const shout = `${name.toUpperCase()} `;
  return rest?.startsWith(shout) ? `${before}[${word}] ${rest.slice(shout.length)}` : title;
}

function facts(event: EventBody, { zone, label }: ReaderClock): string {
  if (isOfNoAlert(event.event)) return "";
  const count = event.count === 1 ? "1 event" : `${event.count} events`;
  const first = minuteOf(event.first_seen, zone);
  const last = minuteOf(event.last_seen, zone);
  const times =
    first === last ? `at ${first}${label}` : `${first} to ${shorter(last, first)}${label}`;
  const rule = event.rule === "" ? "" : `rule ${ellipsis(inOneLine(event.rule), LONGEST_NAME)} · `;
  return `${levelName(event.level)} · ${rule}${count} · ${times} · alert ${event.alert_id}`;
}

/** What was logged, cut; the template says the same with holes in it. */
export function loggedIn({ last_message, template }: EventBody): string {
  return detail(last_message) || detail(template);
}

function details(event: EventBody, { apart = [] }: EventNames): string[] {
  const told = new Map(apart.map(({ name, value }) => [name, value]));
  for (const [name, value] of Object.entries(event.identifiers))
    if (!told.has(name)) told.set(name, value);
  const labels = [...told].filter(([, value]) => value.trim() !== "").slice(0, MOST_LABELS);
  return [
    loggedIn(event),
    ...labels.map(([name, value]) => `${cut(inOneLine(name), 60)} = ${cut(inOneLine(value), 120)}`),
  ].filter((line) => line !== "");
}

function people(
  event: EventBody,
  said: EventNames,
  { isLed, clock }: { isLed: boolean; clock: ReaderClock },
): string[] {
  const { paged, told, next, by, because, acknowledged, lasted } = said;
  const after = lasted === undefined ? "" : ` after ${duration(lasted)}`;
  return [
    isLed ? "" : stageOf(event, said),
    said.nobody ? "Nobody on its ladder could be reached" : "",
    ...(paged === undefined ? [] : [`Pages ${names(paged)}`]),
    said.unreached ? "Nothing reaches them: the next rung runs now" : "",
    ...(told === undefined ? [] : [told.people.length === 0 ? "" : `Paged so far: ${names(told)}`]),
    ...(next === undefined || isLed ? [] : [nextOf(next, event.timestamp, clock)]),
    said.silenced === undefined
      ? ""
      : `Since ${minuteFrom(event.timestamp, said.silenced, clock)}, silenced until now`,
    event.event === "alert.acknowledged" && by !== undefined ? `Acknowledged by ${by}` : "",
    event.event === "alert.resolved" && by !== undefined ? `Resolved by ${by}${after}` : "",
    because === undefined ? "" : `Ended${after}: ${because}`,
    acknowledged === undefined ? "" : `Acknowledged by ${acknowledged}`,
  ].filter((sentence) => sentence !== "");
}

/** What brought the alert up once more; empty when it opens and at its ladder's first step. */
export function stageOf({ event, escalation_level: step }: EventBody, said: EventNames): string {
  if (event === "alert.renotified") return said.again ? "Open again" : "Still open";
  return event === "alert.escalated" && step > 1 ? `Escalated (rung ${step})` : "";
}

/**
 * The line after the title of a page, whatever the way it goes: `You're first, Bob 02:25`, from the second step on
 * `Escalated (step 2), then Cy 02:35`. Empty where the ladder says nothing. `clock` writes a time, Unix seconds.
 */
export function leadOf(
  event: EventBody,
  said: EventNames,
  { clock, who }: { clock: (at: number) => string; who: (named: ByName) => string },
): string {
  const { next } = said;
  const isFirst = event.event === "alert.escalated" && event.escalation_level === 1;
  const stage = isFirst ? "You're first" : stageOf(event, said);
  if (next === undefined || said.nobody) return isFirst ? "" : stage;
  const then = next === null || next.people.length === 0 ? "nobody" : who(next);
  const when = next === null ? "" : ` ${clock(next.at)}`;
  if (isFirst && then !== "nobody") return `${stage}, ${then}${when}`;
  return stage === "" ? `Then ${then}${when}` : `${stage}, then ${then}${when}`;
}

function nextOf(
  next: NonNullable<EventNames["next"]> | null,
  now: number,
  clock: ReaderClock,
): string {
  if (next === null) return "Next: nobody, the ladder has run";
  const when = next.at <= now ? "now" : `at ${minuteFrom(now, next.at, clock)}`;
  return `Next: ${next.people.length === 0 ? "nobody" : names(next)}, ${when}`;
}

/** `Ann (on call: primary), Bob (step 2) and 3 more`. */
export function names({ people: named, more }: ByName): string {
  const list = named.map(({ name, why }) => {
    const called = ellipsis(inOneLine(name), LONGEST_NAME);
    return why === "" ? called : `${called} (${ellipsis(inOneLine(why), LONGEST_NAME)})`;
  });
  return `${list.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The runbook first, then what the sender sent along. */
export function linksToldIn({ runbook, links = [] }: EventNames): Link[] {
  const named = links.map(({ text, href }) => ({
    text: ellipsis(inOneLine(text), 60) || "Link",
    href,
  }));
  return [...(runbook === undefined ? [] : [{ text: "Runbook", href: runbook }]), ...named];
}

/** `45 s`, `12 min`, `3 h 5 min`, `2 d 4 h`: two units at most. */
export function duration(seconds: number): string {
  const units: readonly [size: number, name: string][] = [
    [86_400, "d"],
    [3_600, "h"],
    [60, "min"],
    [1, "s"],
  ];
  const first = Math.max(
    units.findIndex(([size]) => seconds >= size),
    seconds < 60 ? 3 : 0,
  );
  let left = Math.max(0, Math.floor(seconds));
  const parts = units.slice(first, first >= 2 ? first + 1 : first + 2).map(([size, name]) => {
    const whole = Math.floor(left / size);
    left -= whole * size;
    return whole === 0 && size !== units[first]?.[0] ? "" : `${whole} ${name}`;
  });
  return parts.filter(Boolean).join(" ");
}

function detail(text: string): string {
  return ellipsis(text.replace(/[^\P{Cc}\n\t]/gu, " ").trim(), LONGEST_DETAIL);
}

/** `2026-01-05 09:00` in the zone, UTC where none is given; empty for a time no calendar has. */
export function minuteOf(unixSeconds: number, zone = "UTC"): string {
  const date = new Date(unixSeconds * 1_000);
  return Number.isNaN(date.getTime()) ? "" : wallTime(unixSeconds, zone);
}

/** A time by the clock, with its day where that isn't the one of `now`. */
const minuteFrom = (now: number, at: number, { zone, label }: ReaderClock): string =>
  `${shorter(minuteOf(at, zone), minuteOf(now, zone))}${label}`;

/** The time alone when the day is the same. */
function shorter(time: string, than: string): string {
  return time.slice(0, 10) === than.slice(0, 10) ? time.slice(11) : time;
}
