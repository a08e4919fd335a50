import { type ErrorDetail, invalid } from "../../ground/kit/errors.ts";
import { fits, isStorable, storableMessage, titleLine } from "../../ground/kit/text.ts";
import { type Extra, type NamedState, readNamedFields } from "./named-fields.ts";

/** One event, checked (contract §15, Ingest; contract §4). */
export interface IngestEvent {
  message: string;
  /** What the sender calls the alert: one line of at most 200 characters (`titleLine`); null or absent: nothing. */
  title?: string | null;
  level: number;
  /** Values as text; an object without a prototype, so that every key is only a key. */
  keys: Readonly<Record<string, string>> | null;
  tags: readonly string[] | null;
  /** From a sender that names its alerts; null or absent: the rules use the message. */
  named?: NamedState | null;
  extra?: Extra | null;
}

export const DEFAULT_LEVEL = 200;
export const eventLimits = {
  message: 65_536,
  keys: 128,
  key: 256,
  value: 4096,
  tags: 64,
  tag: 256,
} as const;

/** The number of characters in an event, for the limits of waiting events. */
export function eventChars({ message, title, keys, tags, extra }: IngestEvent): number {
  let chars = message.length + (title?.length ?? 0);
  if (extra) chars += (extra.details?.length ?? 0) + JSON.stringify(extra.links).length;
  if (keys !== null) for (const key in keys) chars += key.length + (keys[key] as string).length;
  if (tags !== null) for (const tag of tags) chars += tag.length;
  return chars;
}

/** A number that JavaScript would print differently: one with a point, an exponent, many digits, or -0. */
const ODD_NUMBER = /[:\s](?:-?\d+[.eE]|-?\d{16}|-0)/;

/**
 * The event in a JSON text. Unknown fields are ignored, because losing an event is worse. Throws ServiceError
 * invalid_request that names each invalid field. The caller handles invalid JSON.
 */
export function checkEvent(value: unknown, text: string): IngestEvent {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid([{ field: "", reason: "must be a JSON object" }]);
  }
  const { message, title, level, keys, tags } = value as Record<string, unknown>;
  const faults: ErrorDetail[] = [];
  const event: IngestEvent = {
    message: checkMessage(message, faults),
    title: title === undefined ? null : checkTitle(title, faults),
    level: checkLevel(level, faults),
    keys: keys === undefined ? null : checkKeys(keys, text, faults),
    tags: tags === undefined ? null : checkTags(tags, faults),
    ...readNamedFields(value as Record<string, unknown>, faults),
  };
  if (faults.length > 0) throw invalid(faults.slice(0, 100));
  return event;
}

function checkMessage(message: unknown, faults: ErrorDetail[]): string {
  if (typeof message !== "string") {
    faults.push({
      field: "/message",
      reason: message === undefined ? "is required" : "must be a string",
    });
    return "";
  }
  if (!fits(message, eventLimits.message)) {
    faults.push({
      field: "/message",
      reason: `must have at most ${eventLimits.message} characters`,
    });
  }
  return storableMessage(message);
}

/** A title of any length, because losing the event is worse: what is too long is cut. */
function checkTitle(title: unknown, faults: ErrorDetail[]): string | null {
  if (typeof title === "string") return titleLine(title) || null;
  faults.push({ field: "/title", reason: "must be a string" });
  return null;
}

function checkLevel(level: unknown, faults: ErrorDetail[]): number {
  if (level === undefined) return DEFAULT_LEVEL;
  if (Number.isSafeInteger(level) && (level as number) >= 0) return level as number;
  faults.push({ field: "/level", reason: "must be an integer of at least 0" });
  return DEFAULT_LEVEL;
}

function checkTags(tags: unknown, faults: ErrorDetail[]): readonly string[] | null {
  if (!Array.isArray(tags)) {
    faults.push({ field: "/tags", reason: "must be an array" });
    return null;
  }
  if (tags.length > eventLimits.tags) {
    faults.push({ field: "/tags", reason: `must have at most ${eventLimits.tags} items` });
  }
  tags.forEach((tag, i) => {
    if (typeof tag !== "string") faults.push({ field: `/tags/${i}`, reason: "must be a string" });
    else if (tag.length === 0 || !fits(tag, eventLimits.tag))
      faults.push({ field: `/tags/${i}`, reason: `must have 1 to ${eventLimits.tag} characters` });
    else if (!isStorable(tag))
      faults.push({ field: `/tags/${i}`, reason: "must not hold NUL or half a surrogate pair" });
  });
  return tags.length === 0 ? null : (tags as string[]);
}

function checkKeys(
  keys: unknown,
  text: string,
  faults: ErrorDetail[],
): Readonly<Record<string, string>> | null {
  if (typeof keys !== "object" || keys === null || Array.isArray(keys)) {
    faults.push({ field: "/keys", reason: "must be an object" });
    return null;
  }
  const entries = Object.entries(keys);
  if (entries.length > eventLimits.keys) {
    faults.push({ field: "/keys", reason: `must have at most ${eventLimits.keys} properties` });
  }
  const written =
    entries.some(([, value]) => typeof value === "number") && ODD_NUMBER.test(text)
      ? keysAsWritten(text)
      : null;
  const kept: Record<string, string> = Object.create(null);
  for (const [key, value] of entries) kept[key] = checkKey(key, written?.[key] ?? value, faults);
  return entries.length === 0 ? null : kept;
}

function checkKey(key: string, value: unknown, faults: ErrorDetail[]): string {
  const fault = keyFault(key, value);
  if (fault !== null) {
    faults.push({
      field: `/keys/${key.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`,
      reason: fault,
    });
    return "";
  }
  return typeof value === "string" ? value : String(value);
}

function keyFault(key: string, value: unknown): string | null {
  if (key.length === 0 || !fits(key, eventLimits.key))
    return `a key must have 1 to ${eventLimits.key} characters`;
  if (!isStorable(key)) return "a key must not hold NUL or half a surrogate pair";
  if (typeof value === "object" && value !== null)
    return "must be a string, number, boolean or null";
  if (typeof value !== "string") return null;
  if (!fits(value, eventLimits.value)) return `must have at most ${eventLimits.value} characters`;
  return isStorable(value) ? null : "must not hold NUL or half a surrogate pair";
}

/** The numbers in `keys` with the digits in which they were sent (contract §4: "as written"). */
function keysAsWritten(text: string): Record<string, string> {
  const written: Record<string, string> = Object.create(null);
  const root: unknown = JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined
      ? new Written(context.source)
      : value,
  );
  const keys = (root as { keys: Record<string, unknown> }).keys;
  for (const [key, value] of Object.entries(keys))
    if (value instanceof Written) written[key] = value.source;
  return written;
}

class Written {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}
