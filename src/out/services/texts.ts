import type { EventBody } from "../outbox/event.ts";
import type { Link } from "../outbox/event-names.ts";
import { asLine, type Message, plainText } from "../outbox/message.ts";

/** What services have in common: how an event looks and sounds, texts within a limit, texts that must not act. */

/** The alert that a message in a room can be acknowledged for; null where it is no call for somebody, or names several. */
export function takenFor({ event, alert_id: id }: EventBody): string | null {
  const calls = ["alert.opened", "alert.escalated", "alert.renotified"].includes(event);
  return calls && /^\d{1,15}$/.test(id) ? id : null;
}

/** How a message looks: the worse, the redder. */
export type MessageColour = "critical" | "bad" | "warning" | "seen" | "over";

/** A colour for each, as `0xrrggbb`. */
export const COLOURS: Readonly<Record<MessageColour, number>> = {
  critical: 0xb3261e,
  bad: 0xd9480f,
  warning: 0xf2a900,
  seen: 0x3b6fb6,
  over: 0x2e7d32,
};

export function messageColourOf({ event, level }: EventBody): MessageColour {
  if (event === "alert.resolved") return "over";
  if (["alert.acknowledged", "alert.test", "digest"].includes(event)) return "seen";
  if (event === "integration.disabled") return "bad";
  return level >= 500 ? "critical" : level >= 400 ? "bad" : "warning";
}

/** How a message sounds on a phone; `through` also rings where the phone is set to be still. */
export type Urgency = "through" | "rings" | "usual" | "silent";

/** What rings is what somebody should do; what ended is only shown. */
export function urgencyOf({ event, level }: EventBody): Urgency {
  if (["alert.acknowledged", "alert.resolved", "digest"].includes(event)) return "silent";
  if (event === "integration.disabled") return "rings";
  if (event === "alert.test") return "usual";
  if (level >= 500) return "through";
  return level >= 400 || event === "alert.escalated" ? "rings" : "usual";
}

/** Where more is to be seen: the alert's own page first. */
export function addressesOf({ link, links }: Message): Link[] {
  return [...(link === null ? [] : [{ text: "Open", href: link }]), ...links];
}

const ZERO_WIDTH = "\u200b";

/**
 * One line with nothing in it that Markdown acts on, and no @ that could call somebody: some servers look for
 * names behind an escape, too, so what follows an @ is parted from it by a space of no width.
 */
export function plainMarkdown(line: string): string {
  return line.replace(/[\\*_~`|<>[\]()#]|:(?=\S)/g, "\\$&").replaceAll("@", `@${ZERO_WIDTH}`);
}

/**
 * Lines as a block of code, where no markup, link or name counts; at most `most` UTF-16 units with its fence, which
 * nothing in it can end.
 */
export function codeBlock(lines: readonly string[], most: number): string {
  const inside = lines.join("\n").replace(/`(?=`)/g, `\`${ZERO_WIDTH}`);
  return `\`\`\`\n${shortened(inside, most - 8)}\n\`\`\``;
}

/** A link in Markdown; nothing in its name or address ends it, or calls somebody. */
export function markdownLink({ text, href }: Link): string {
  const address = href.replace(/[()<>@\\\s]/g, (char) =>
    char === "(" ? "%28" : char === ")" ? "%29" : encodeURIComponent(char),
  );
  return `[${plainMarkdown(text)}](${address})`;
}

/** Parts in one text, at most `most` UTF-16 units: what doesn't fit any more is left out whole. */
export function partsWithin(parts: readonly string[], most: number, between = "\n"): string {
  let text = "";
  for (const part of parts) {
    const longer = text === "" ? part : text + between + part;
    if (longer.length <= most) text = longer;
  }
  return text;
}

/** At most `most` UTF-16 units, never half a character; what is cut ends in `…`. */
export function shortened(whole: string, most: number): string {
  if (whole.length <= most) return whole;
  return `${whole.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The message as plain text of at most `most` UTF-16 units: words are cut, addresses are whole or left out. */
export function plainWithin(words: Message, most: number): string {
  const { link, links } = words;
  const addresses = [...(link === null ? [] : [link]), ...links.map(asLine)];
  const shown = partsWithin(addresses, Math.floor(most / 2));
  const end = shown === "" ? "" : `\n${shown}`;
  return shortened(plainText({ ...words, link: null, links: [] }), most - end.length) + end;
}

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
const escaping = (char: string): string => ESCAPES[char] ?? char;

/** Escapes &, < and >, or what `written` does, ending whole within `most` characters however much that adds. */
export function escapeWithin(plain: string, most: number, written = escaping): string {
  let escaped = "";
  for (const char of plain) {
    const next = written(char);
    if (escaped.length + next.length > most) return escaped;
    escaped += next;
  }
  return escaped;
}
