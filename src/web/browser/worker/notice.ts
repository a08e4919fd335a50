import { hourAt, secondsAt } from "./clock-words.ts";
import { alertOf, type PushTold } from "./told.ts";

/* What a notification says and offers. Pure. */

export interface ShownNotice {
  title: string;
  /** What `showNotification` takes. */
  options: NoticePictures & {
    body: string;
    tag: string;
    data?: PushTold;
    silent?: boolean;
    actions?: { action: string; title: string }[];
    renotify?: boolean;
    requireInteraction?: boolean;
    vibrate?: number[];
    timestamp?: number;
  };
}

/** Addresses of pictures. */
interface NoticePictures {
  icon: string;
  badge: string;
}

const BUZZ = [300, 150, 300, 150, 300];
const ACK = { action: "ack", title: "Acknowledge" };
const AGAIN = { action: "ack", title: "Try again" };
const OPEN = { action: "open", title: "Open" };

/** A push as it is shown. The same tag takes the older one's place; only what tells how it went on does so without a sound. */
export function noticeOfPush(told: PushTold, pictures: NoticePictures): ShownNotice {
  const { title, body, tag, data } = told;
  const { kind } = data;
  const isQuiet = told.silent === true || kind === "note";
  const common = { ...pictures, body, tag, data: told, timestamp: data.server_time * 1000 };
  // A silent one that vibrates is refused by browsers.
  if (isQuiet) return { title, options: { ...common, silent: true } };
  const actions = {
    page: data.ack === null ? [OPEN] : [ACK, OPEN],
    note: [],
    test: [],
    shift: [{ action: "here", title: "I’m here" }],
  }[kind];
  const stays = kind === "page" || kind === "shift";
  return {
    title,
    options: { ...common, renotify: true, requireInteraction: stays, vibrate: BUZZ, actions },
  };
}

/** Of a push that says nothing that is known: browsers punish what shows nothing. */
export const unknownNotice = (pictures: NoticePictures): ShownNotice => ({
  title: "box",
  options: { ...pictures, body: "Something happened: open the box.", tag: "box" },
});

/** What pressing *Acknowledge* came to. */
export type Pressed =
  | { kind: "taken"; at: number | null }
  /** In the box's words: somebody else has it, or it is over. */
  | { kind: "told"; said: string }
  | { kind: "unreached" }
  | { kind: "refused"; status: number }
  /** Tried for a quarter of an hour. */
  | { kind: "given-up" };

/** "Bob is paged at 02:25." */
function nextPerson({ data: { next } }: PushTold, now: number, zone?: string): string {
  if (next === null) return "Nobody else is paged.";
  const is = next.at * 1000 > now ? "is" : "was to be";
  return `${next.who} ${is} paged at ${hourAt(next.at * 1000, now, zone)}.`;
}

/** What takes the notification's place. `title` stands in both, so that it is known which alert it is. */
export function outcomeNotice(
  told: PushTold,
  pressed: Pressed,
  { now, zone, pictures }: { now: number; zone?: string; pictures: NoticePictures },
): ShownNotice {
  const common = { ...pictures, tag: told.tag, data: told };
  const done = (title: string, body: string): ShownNotice => ({
    title,
    options: { ...common, body, silent: true },
  });
  const open = (why: string): ShownNotice => ({
    title: "Not acknowledged",
    options: {
      ...common,
      body: `Not acknowledged: ${why} ${nextPerson(told, now, zone)}\n${told.title}`,
      renotify: true,
      requireInteraction: true,
      vibrate: BUZZ,
      actions: [AGAIN, OPEN],
    },
  });
  switch (pressed.kind) {
    case "taken": {
      const at = pressed.at === null ? "" : ` ${secondsAt(pressed.at * 1000, zone)}`;
      return done(`You have it. Ladder stopped${at}`, told.title);
    }
    case "told":
      return done(pressed.said, told.title);
    case "unreached":
      return open("the box can’t be reached.");
    case "refused":
      return open(`the box answered ${pressed.status}.`);
    case "given-up":
      return open("given up after 15 minutes without the box.");
  }
}

/** What the box answered to the button. */
export function pressedAs(status: number, answer: unknown): Pressed {
  const { state, said, acked_at } = (answer ?? {}) as Record<string, unknown>;
  if (typeof said !== "string" || (status !== 200 && status !== 410))
    return { kind: "refused", status };
  const isMine = status === 200 && state === "acknowledged" && said.startsWith("You have it");
  if (!isMine) return { kind: "told", said };
  return { kind: "taken", at: typeof acked_at === "number" ? acked_at : null };
}

/** Where a tap leads, below the base: an address of this box, whatever was pushed. */
export function tapAddress({ navigate = "", data }: PushTold, base: string): string {
  const alert = alertOf(data);
  if (data.kind === "page" && alert !== null) return `${base}/a/${alert}?from=push`;
  const path = /^(?:https?:\/\/[^/]+)?(\/[^/\\].*)$/.exec(navigate)?.[1] ?? "/alerts";
  return path.startsWith(`${base}/`) ? path : base + path;
}

/** The capability at the end of its address, below `/ack/`. */
export const capabilityIn = (ack: string): string => ack.slice(ack.lastIndexOf("/") + 1);
