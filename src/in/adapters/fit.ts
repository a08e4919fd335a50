import { sha256 } from "../../ground/kit/ids.ts";
import { cut as cutText, fits, storableMessage, titleLine } from "../../ground/kit/text.ts";
import { eventLimits, type IngestEvent } from "../ingest/event.ts";
import { type Extra, isWebAddress, type NamedState, namedLimits } from "../ingest/named-fields.ts";
import type { WatchedKeys } from "./adapter.ts";

/** An event as an adapter reads it, of any length. */
export interface Loose {
  message: string;
  /** What the sender calls the alert, if it says so besides the message. */
  title?: string;
  level: number;
  keys: Iterable<readonly [string, string]>;
  tags: readonly string[];
  named?: NamedState;
  details?: string;
  links?: readonly { href: string; text: string }[];
  images?: readonly { src: string; href?: string; alt?: string }[];
  occurredAt?: number | null;
}

/** The key that names what was cut or left out. */
const CUT_KEY = "box.cut";
/** One key is reserved for `CUT_KEY`. */
const MOST_KEYS = eventLimits.keys - 1;

/**
 * The event within the limits: texts that are too long are cut, surplus keys are left out, and a key lists that. Keys
 * that rules use are kept first. Nothing is refused for its size, because a lost page is worse.
 */
export function fitted(loose: Loose, watched: WatchedKeys): IngestEvent {
  const cut = new Set<string>();
  const text = (value: string, most: number, name: string) => {
    // Only the beginning of a very long text is cleaned: many events can repeat it.
    const clean = storableMessage(value.length > most * 3 ? value.slice(0, most * 3) : value);
    if (fits(clean, most)) return clean;
    cut.add(name);
    return `${cutText(clean, most - 1)}…`;
  };
  const message = text(loose.message, eventLimits.message, "message");
  const keys = fittedKeys(loose.keys, { watched, cut, text });
  const tags = loose.tags
    .filter((tag) => tag !== "")
    .map((tag) => text(tag, eventLimits.tag, "tags"));
  if (tags.length > eventLimits.tags) cut.add("tags");
  const extra = fittedExtra(loose, text);
  const named = loose.named === undefined ? null : fittedName(loose.named);
  if (cut.size > 0) keys[CUT_KEY] = [...cut].join(", ").slice(0, eventLimits.value);
  return {
    message: message === "" ? "(no message)" : message,
    title: titleLine(loose.title ?? "") || null,
    level: loose.level,
    keys: Object.keys(keys).length === 0 ? null : keys,
    tags: tags.length === 0 ? null : tags.slice(0, eventLimits.tags),
    named,
    extra,
  };
}

type Fit = (value: string, most: number, name: string) => string;

function fittedKeys(
  given: Iterable<readonly [string, string]>,
  { watched, cut, text }: { watched: WatchedKeys; cut: Set<string>; text: Fit },
): Record<string, string> {
  const keys: Record<string, string> = Object.create(null);
  /** Keys that came when all places were taken. */
  let late: Record<string, string> | null = null;
  let count = 0;
  for (const [name, value] of given) {
    const key = text(name, eventLimits.key, "keys");
    if (key === "") continue;
    if (!(key in keys) && ++count > MOST_KEYS) {
      cut.add("keys");
      if (!watched().has(key)) continue;
      late ??= Object.create(null) as Record<string, string>;
      late[key] = text(value, eventLimits.value, `keys.${key}`);
    } else keys[key] = text(value, eventLimits.value, `keys.${key}`);
  }
  return late === null ? keys : withLate(keys, late, watched());
}

/** As many of both as fit: used keys in their own order, then the first of the others. */
function withLate(
  first: Readonly<Record<string, string>>,
  late: Readonly<Record<string, string>>,
  watched: ReadonlySet<string>,
): Record<string, string> {
  const names = new Set([...watched].filter((name) => name in first || name in late));
  for (const name in first) names.add(name);
  const keys: Record<string, string> = Object.create(null);
  for (const name of [...names].slice(0, MOST_KEYS))
    keys[name] = (first[name] ?? late[name]) as string;
  return keys;
}

/** A name that is too long is hashed: two names could be equal after cutting. */
function fittedName({ dedupKey, instance, ...others }: NamedState): NamedState {
  const long = dedupKey !== null && !fits(dedupKey, namedLimits.dedupKey);
  const name = dedupKey === null ? null : storableMessage(dedupKey);
  return {
    ...others,
    dedupKey: long ? `sha256:${sha256(dedupKey)}` : name === "" ? null : name,
    instance:
      instance === null || instance === ""
        ? null
        : storableMessage(instance).slice(0, namedLimits.instance),
  };
}

function fittedExtra(loose: Loose, text: Fit): Extra | null {
  const details = loose.details ? text(loose.details, namedLimits.details, "details") : null;
  const links = (loose.links ?? [])
    .filter(({ href }) => isWebAddress(href))
    .slice(0, namedLimits.links)
    .map((link) => ({ href: link.href, text: text(link.text, namedLimits.linkText, "links") }));
  const images = (loose.images ?? [])
    .filter(({ src }) => isWebAddress(src))
    .slice(0, namedLimits.images)
    .map(({ src, href = "", alt = "" }) => ({
      src,
      ...(isWebAddress(href) ? { href } : {}),
      ...(alt === "" ? {} : { alt: text(alt, namedLimits.linkText, "images") }),
    }));
  const occurredAt = loose.occurredAt ?? null;
  if (details === null && links.length === 0 && images.length === 0 && occurredAt === null)
    return null;
  return { details, links, images, occurredAt };
}
