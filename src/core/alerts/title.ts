import { cut, inOneLine, titleLine } from "../../ground/kit/text.ts";
import { type MessagePart, partsOf } from "./parts.ts";

/** What people call an alert. */
interface Titled {
  /** Its sender's own; null: it has none. */
  title: string | null;
  last_message: string;
  template: string;
}

/** One line of at most 200 characters: its sender's title, else the message's first line that isn't empty, else the template. */
export function titleOfAlert({ title, last_message, template }: Titled): string {
  return title ?? (titleLine(last_message) || titleLine(template));
}

/** Of a message so many characters are compared with its template. */
const COMPARED = 4_096;

/** The title's constant and variable parts; where it isn't the message's beginning, or the template doesn't fit, one part. */
export function titleParts(title: string, { last_message, template }: Titled): MessagePart[] {
  const message = inOneLine(cut(last_message, COMPARED));
  const isCut = title.endsWith("…") && !message.startsWith(title);
  const stem = isCut ? title.slice(0, -1) : title;
  if (!message.startsWith(stem)) return [{ text: title, variable: false }];
  const parts: MessagePart[] = [];
  let left = stem.length;
  for (const { text, variable } of partsOf(message, template)) {
    if (left <= 0) break;
    parts.push({ text: text.slice(0, left), variable });
    left -= text.length;
  }
  if (isCut) parts.push({ text: "…", variable: false });
  return parts;
}
