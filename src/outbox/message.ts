import { levelName } from "../kit/level.ts";
import { cut } from "../kit/text.ts";
import type { EventBody } from "./event.ts";

/** An event in words, for a chat: what is wrong, where, how bad, since when. */
export interface Message {
  /** One line: state, project, rule. */
  readonly title: string;
  /** One line: level, count, times. */
  readonly facts: string;
  /** What was logged, and the identifiers, each on its own line. */
  readonly details: readonly string[];
  /** Where to look, when the box has a public address. */
  readonly link: string | null;
}

const LONGEST_TITLE = 140;
const LONGEST_DETAIL = 700;
const MOST_IDENTIFIERS = 6;

/** Says an event in words; `link` is an address for people, or null. Plain text, escaped by nobody yet. */
export function describe(event: EventBody, link: string | null = null): Message {
  const where = [event.project, event.rule].filter((part) => part !== "").map(oneLine);
  return {
    title: cut(`${headline(event)}: ${where.join(" · ")}`, LONGEST_TITLE),
    facts: facts(event),
    details: details(event),
    link,
  };
}

/** The message as plain text, one part a line. */
export function plainText(message: Message): string {
  const { title, facts: line, details: lines, link } = message;
  return [title, line, ...lines, ...(link === null ? [] : [link])].filter(Boolean).join("\n");
}

function headline(event: EventBody): string {
  switch (event.event) {
    case "alert.opened":
      return "ALERT";
    case "alert.escalated":
      return `ESCALATED (step ${event.escalation_level})`;
    case "alert.renotified":
      return "STILL OPEN";
    case "alert.acknowledged":
      return "Acknowledged";
    case "alert.resolved":
      return "Resolved";
    case "alert.test":
      return "Test";
    case "integration.disabled":
      return "CHANNEL DISABLED";
  }
}

function facts(event: EventBody): string {
  if (event.event === "alert.test" || event.event === "integration.disabled") return "";
  const count = event.count === 1 ? "1 event" : `${event.count} events`;
  const first = minute(event.first_seen);
  const last = minute(event.last_seen);
  const times = first === last ? `at ${first} UTC` : `${first} to ${shorter(last, first)} UTC`;
  return `${levelName(event.level)} · ${count} · ${times} · alert ${event.alert_id}`;
}

function details(event: EventBody): string[] {
  const template = detail(event.template);
  const message = detail(event.last_message);
  const identifiers = Object.entries(event.identifiers).slice(0, MOST_IDENTIFIERS);
  return [
    // The template says the same with holes in it.
    message === "" ? template : message,
    ...identifiers.map(([key, value]) => `${cut(oneLine(key), 60)} = ${cut(oneLine(value), 120)}`),
  ].filter((line) => line !== "");
}

function detail(text: string): string {
  const whole = text.replace(/[^\P{Cc}\n\t]/gu, " ").trim();
  const short = cut(whole, LONGEST_DETAIL);
  return short === whole ? whole : `${short}…`;
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** `2026-01-05 09:00` in UTC; empty for a time no calendar has. */
function minute(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1_000);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString().slice(0, 16).replace("T", " ");
}

/** The time alone when the day is the same. */
function shorter(time: string, than: string): string {
  return time.slice(0, 10) === than.slice(0, 10) ? time.slice(11) : time;
}
