import { levelName } from "../../../ground/kit/level.ts";
import { cut, ellipsis, fits, inOneLine } from "../../../ground/kit/text.ts";
import { namedClock, timeFor } from "../../../ground/kit/wall-time.ts";
import type { EventBody } from "../../outbox/event.ts";
import type { ByName, EventNames } from "../../outbox/event-names.ts";
import { duration, leadOf, titleInEvent } from "../../outbox/message.ts";
import type { DirectMessage } from "../direct-message.ts";

/**
 * What a browser is pushed, in the form of Declarative Web Push: it can be shown without a worker, and a worker finds what
 * it needs in `data`. JSON of at most `PUSH_BYTES`, encrypted before it leaves.
 */
export interface PushPayload {
  web_push: 8030;
  notification: {
    /** Level in words first: `CRITICAL payments: no payment goes through`. */
    title: string;
    /** `You're first, Bob 02:25 · 128 × since 02:06 · rung 1 of 2`, by the device's clock. May be empty. */
    body: string;
    /** Where a tap leads: absolute, or a path where the box has no public address. */
    navigate: string;
    mutable: true;
    /** `alert-131`; `alerts` for one that names several; `test`; `shift-…`. The same tag takes the older one's place. */
    tag: string;
    /** Only of what says how an alert went on. */
    silent?: true;
    data: PushData;
  };
}

/** What the worker needs. */
interface PushData {
  /** `page`: take it. `note`: what became of an alert that was paged. `shift`: a shift begins. */
  kind: "page" | "note" | "test" | "shift";
  /** Its id; null where the message is about none, or names several. */
  alert: string | null;
  /** null as `alert` is. */
  project: string | null;
  rule: string | null;
  /** The highest that it names; 0 where it names none. */
  level: number;
  /** What people call it, as its title has it; empty where it names none. */
  called: string;
  count: number;
  /** The ladder's step that runs, from 1, and how many it has; 0: none. */
  step: number;
  steps: number;
  /** Whom the ladder pages next, by name; `at` in Unix seconds. null: nobody. */
  next: { who: string; at: number } | null;
  /** Absolute address that a POST acknowledges this alert at; null: it can't be taken from here. */
  ack: string | null;
  /** What is posted to `/push/seen` once it is shown. */
  receipt: string;
  server_time: number;
}

/** What a device wants of its lock screen: all of it, or no more than where something is. */
type LockScreen = "all" | "place";

export interface PushFacts {
  message: DirectMessage;
  /** What stands for having shown it. */
  receipt: string;
  /** What addresses begin with; null where the box has no public one. */
  base: string | null;
  lockScreen: LockScreen;
  /** IANA's name; null: UTC, and said so. */
  zone: string | null;
  now: number;
}

export const PUSH_BYTES = 3_072;

/** Longer addresses would leave no room for words. */
const LONGEST_ADDRESS = 600;
/** In characters, where nothing has to be shortened for it. */
const LONGEST = { title: 64, body: 1_000, called: 200, name: 80, who: 60 };

/** Says a message to a browser. Whatever it holds, it fits and is never cut within a character. Pure. */
export function pushPayload(facts: PushFacts): PushPayload {
  for (const share of [1, 0.5, 0.25, 0.1]) {
    const payload = payloadOf(facts, share);
    if (Buffer.byteLength(JSON.stringify(payload)) <= PUSH_BYTES) return payload;
  }
  return payloadOf({ ...facts, base: null, message: { ...facts.message, ack: null } }, 0.1);
}

function payloadOf(facts: PushFacts, share: number): PushPayload {
  const { message, base, receipt, now } = facts;
  const within = (what: keyof typeof LONGEST, text: string) =>
    ellipsis(text.split("\n").map(inOneLine).join("\n").toWellFormed(), LONGEST[what] * share);
  const only = theOnly(message);
  const { title, body } = facts.lockScreen === "all" ? words(facts) : fewWords(facts);
  const { steps = 0, next = null } = message.said ?? {};
  const who = next === null || next.people.length === 0 ? "nobody" : namesOf(next);
  const isPage = message.purpose === "page";
  return {
    web_push: 8030,
    notification: {
      title: within("title", inOneLine(title)),
      body: within("body", body),
      navigate: whereTo(message, only, base),
      mutable: true,
      tag: tagOf(message, only),
      ...(message.purpose === "note" && { silent: true as const }),
      data: {
        kind: message.purpose === "code" ? "test" : message.purpose,
        alert: null,
        project: null,
        rule: null,
        level: message.level,
        called: "",
        count: 0,
        step: 0,
        steps: 0,
        next: null,
        ...(only !== null && {
          alert: only.alert_id,
          project: within("name", only.project),
          rule: within("name", only.rule),
          called: within("called", titleInEvent(only)),
          count: only.count,
          step: only.escalation_level,
          steps,
          next: isPage && next !== null ? { who: within("who", who), at: next.at } : null,
        }),
        ack: only === null || !isPage ? null : fitting(message.ack?.url ?? null),
        receipt,
        server_time: now,
      },
    },
  };
}

/** The one alert that it is about, as its latest event has it; null for none or several. */
function theOnly({ events }: DirectMessage): EventBody | null {
  const [first = null] = events;
  return events.length === 1 ? first : null;
}

const fitting = (url: string | null): string | null =>
  url !== null && url.length <= LONGEST_ADDRESS ? url : null;

function whereTo(message: DirectMessage, only: EventBody | null, base: string | null): string {
  const path = {
    page: only === null ? "/alerts" : `/a/${only.alert_id}?from=push`,
    note: only === null ? "/alerts" : `/a/${only.alert_id}`,
    test: "/me/devices",
    code: "/me/devices",
    shift: "/oncall",
  }[message.purpose];
  return fitting(base === null ? null : `${base}${path}`) ?? path;
}

function tagOf({ purpose, id, events }: DirectMessage, only: EventBody | null): string {
  if (only !== null) return `alert-${only.alert_id}`;
  if (events.length > 0) return "alerts";
  return purpose === "shift" ? cut(`shift-${id}`, 64) : "test";
}

interface Words {
  title: string;
  body: string;
}

function words({ message, zone, now }: PushFacts): Words {
  const only = theOnly(message);
  if (only === null) return { title: message.title, body: message.lines.join("\n") };
  const said = message.said ?? {};
  const called = titleInEvent(only);
  const what = `${inOneLine(only.project)}: ${called}`;
  if (message.purpose === "note") return noteWords(only, said, what);
  const level = levelName(only.level).toUpperCase();
  // On the device's clock; on UTC's, and said so, where that isn't known.
  const own = zone === null ? namedClock("UTC") : { zone, label: "" };
  const clock = (at: number) => timeFor(own, at, now);
  const title = `${drill(only)}${level} ${what}`;
  const lead = said.nobody
    ? "Nobody on its ladder could be reached"
    : leadOf(only, said, { clock, who: namesOf });
  return {
    title,
    body: [
      lead,
      fits(title, LONGEST.title) ? "" : called,
      `${only.count} × since ${clock(only.first_seen)}`,
      stepOf(only, said),
    ]
      .filter(Boolean)
      .join(" · "),
  };
}

const drill = (event: EventBody): string => (event.drill ? "DRILL · " : "");

/** `rung 1 of 2`; empty before the first. */
function stepOf({ escalation_level: step }: EventBody, { steps }: EventNames): string {
  if (step === 0) return "";
  return steps === undefined ? `rung ${step}` : `rung ${step} of ${steps}`;
}

/** `Bob`, `Bob, Cy and 2 more`. */
function namesOf({ people, more }: ByName): string {
  const shown = people.slice(0, 2).map(({ name }) => ellipsis(inOneLine(name), 40));
  const left = people.length - shown.length + more;
  return `${shown.join(", ")}${left > 0 ? ` and ${left} more` : ""}`;
}

function noteWords(event: EventBody, { by, lasted, because }: EventNames, what: string): Words {
  const after = lasted === undefined ? "" : ` after ${duration(lasted)}`;
  if (event.event === "alert.acknowledged")
    return { title: `${by ?? "Somebody"} has it: ${what}`, body: "Acknowledged" };
  const how = by === undefined ? (because ?? "") : `by ${by}`;
  return { title: `Resolved: ${what}`, body: `Resolved ${how}${after}`.replace(/ +/g, " ").trim() };
}

/** What a lock screen may show to whoever passes. */
function fewWords({ message }: PushFacts): Words {
  const { purpose, events, title, lines } = message;
  const only = theOnly(message);
  if (events.length === 0) return { title, body: lines.join("\n") };
  const became = events[0]?.event === "alert.acknowledged" ? "Acknowledged" : "Resolved";
  return {
    title:
      only === null
        ? `${events.length} alerts`
        : `${drill(only)}Alert in ${inOneLine(only.project)}`,
    body: purpose === "note" ? became : "",
  };
}
