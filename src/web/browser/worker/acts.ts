import { hourAt } from "./clock-words.ts";
import { escapeText } from "./drawn-page.ts";

/* Acts that couldn't be sent: what they are called, when they may still go, and how they are drawn. Pure. */

export interface HeldAct {
  id: string;
  /** The form's address, below the base. */
  path: string;
  /** The form, as it is sent. */
  body: string;
  /** When somebody pressed the button: browser's clock, unix milliseconds. */
  at: number;
  /** The box was there and didn't take it: why, in its words. */
  refused?: string;
}

/** Older ones aren't sent by themselves: what they answer to may be another situation by now. */
export const FRESH_MS = 15 * 60_000;

/** A clock that was set back makes nothing young again. */
export const isFresh = (at: number, now: number): boolean => now - at >= 0 && now - at < FRESH_MS;

/** What becomes of it now that the box may be there. */
export function fateOf({ at, refused }: HeldAct, now: number): "send" | "ask" | "told" {
  if (refused !== undefined) return "told";
  return isFresh(at, now) ? "send" : "ask";
}

/** What the box's answer to one that was sent makes of it: taken; still held, since the box is busy or stopping; or refused, and why. */
export function answeredAs(status: number): "taken" | "later" | { refused: string } {
  if (status >= 200 && status < 300) return "taken";
  if (status === 429 || status >= 500) return "later";
  return { refused: status === 401 ? "you are signed out" : `the box refused it (${status})` };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** What the box says of an act, out of the sections that it answered, as text; "" where it says nothing. */
export function saidIn(sections: string): string {
  const markup = /<output id="said"[^>]*><span>([^<]*)<\/span>/.exec(sections)?.[1] ?? "";
  return markup.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}

/** Whether one may be sent while another is still held: what is done to one alert keeps its order. */
export const isFree = (act: Pick<HeldAct, "path" | "body">, held: readonly HeldAct[]): boolean => {
  const taken = new Set(held.flatMap(alertsOf));
  return !alertsOf(act).some((id) => taken.has(id));
};

const VERBS: Readonly<Record<string, string>> = {
  ack: "Acknowledge",
  unack: "Un-acknowledge",
  resolve: "Resolve",
  note: "Note on",
};

/** The alerts that it is about. */
export function alertsOf({ path, body }: Pick<HeldAct, "path" | "body">): string[] {
  const own = /^\/a\/(\d+)\//.exec(path)?.[1];
  if (own !== undefined) return [own];
  const named = new URLSearchParams(body).getAll("id").flatMap((ids) => ids.split(","));
  return [...new Set(named.filter((id) => /^\d+$/.test(id)))];
}

/** "Acknowledge #131", "Resolve 3 alerts". */
export function actName(act: Pick<HeldAct, "path" | "body">): string {
  const ids = alertsOf(act);
  const verb = VERBS[act.path.slice(act.path.lastIndexOf("/") + 1)] ?? "";
  return `${verb} ${ids.length === 1 ? `#${ids[0]}` : `${ids.length} alerts`}`;
}

/** The text that somebody wrote, which is kept until it is sent or they let it go. */
const textOf = ({ body }: HeldAct): string => new URLSearchParams(body).get("text") ?? "";

/** Pressed twice it is one. */
export const isSameAct = (one: HeldAct, other: HeldAct): boolean =>
  one.path === other.path && one.body === other.body && one.refused === other.refused;

/** What the answer to a form says whose act is held. */
export function heldAnswer(act: HeldAct, zone?: string): string {
  const until = hourAt(act.at + FRESH_MS, act.at, zone);
  return `<output id="said" class="said wrong" role="status" aria-live="polite"><span>Not sent: the box can’t be reached. “${actName(act)}” is held here, and sent if the box answers before ${until}.</span></output>`;
}

/** What came of those that were held, and those that still are; "" where there is nothing to tell. */
export function heldLine(
  acts: readonly HeldAct[],
  { base, now, zone, said = "" }: { base: string; now: number; zone?: string; said?: string },
): string {
  if (acts.length === 0 && said === "") return "";
  const button = (act: HeldAct, verb: "send" | "drop", name: string) =>
    `<form method="post" action="${base}/held/${act.id}/${verb}"><button class="second">${name}</button></form>`;
  const item = (act: HeldAct) => {
    const fate = fateOf(act, now);
    const why = {
      send: `sent if the box answers before ${hourAt(act.at + FRESH_MS, now, zone)}`,
      ask: "too long ago to be sent by itself",
      told: act.refused ?? "",
    }[fate];
    const text = textOf(act);
    return `<li><strong>Not sent:</strong> ${actName(act)}, ${hourAt(act.at, now, zone)} · ${escapeText(why)}${
      text === "" ? "" : ` <q dir="auto">${escapeText(text)}</q>`
    } <span class="buttons">${fate === "send" ? "" : button(act, "send", "Send now")}${button(act, "drop", "Discard")}</span></li>`;
  };
  return `<div id="held" class="held" role="status">${
    said === "" ? "" : `<p>${escapeText(said)}</p>`
  }${acts.length === 0 ? "" : `<ul>${acts.map(item).join("")}</ul>`}</div>`;
}
