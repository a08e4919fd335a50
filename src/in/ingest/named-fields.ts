import type { ErrorDetail } from "../../ground/kit/errors.ts";
import { cut, fits, isStorable, storableMessage } from "../../ground/kit/text.ts";

/** What a sender says of an alert that it names (contract §22). */
export interface NamedState {
  /** `note` adds to its timeline; `update` changes what `updates` says; `change` is shown next to other alerts. */
  action: "fire" | "resolve" | "acknowledge" | "note" | "update" | "change";
  /** The alert's name; null where the sender left it out. */
  dedupKey: string | null;
  /** If no alert has this name, it can be the id that was answered for one: the `uuidOf` its name. */
  mayBeId?: boolean;
  /** For `update`: the part of the alert that the event replaces. A level is only raised, or noted. */
  updates?: "level" | "message" | "details";
  /** Identifies the firing: the same value is the same firing, reported again. */
  instance: string | null;
  /** Unix seconds by which the sender reports again. */
  expiresAt: number | null;
  /**
   * For an end by a sender that combines several servers: its time by the sender's clock, Unix seconds. Every firing
   * that began before that is over, whichever start the end names.
   */
  endedAt?: number | null;
  /** It began and ended within the last hour: if the alert is unknown, a clock may be wrong. */
  justEnded?: boolean;
}

/** What a person may want to see besides an alert's message; stored with the alert. */
export interface Extra {
  details: string | null;
  links: readonly { href: string; text: string }[];
  /** Shown as links, never fetched. */
  images: readonly { src: string; href?: string; alt?: string }[];
  /** Unix seconds by the sender's clock. */
  occurredAt: number | null;
}

/** The fields of an event's JSON besides the basic ones (contract §22). */
interface NamedFields {
  named: NamedState | null;
  extra: Extra | null;
}

const STATUSES = { firing: "fire", acknowledged: "acknowledge", resolved: "resolve" } as const;
/** Characters; for lists the number of items. */
export const namedLimits = {
  dedupKey: 512,
  instance: 64,
  details: 32_768,
  links: 16,
  images: 8,
  href: 2048,
  linkText: 128,
} as const;
/** Above any time in seconds: milliseconds by mistake. */
const LATEST = 100_000_000_000;

const NONE: NamedFields = { named: null, extra: null };

/**
 * Reads the fields. An invalid `dedup_key` or `status` is a fault. Another field of a wrong type is ignored like an
 * unknown one, and a value that is too long is cut: losing the event is worse.
 */
export function readNamedFields(
  fields: Record<string, unknown>,
  faults: ErrorDetail[],
): NamedFields {
  const { dedup_key, status, instance, expires_at, occurred_at, links, images, details } = fields;
  const named =
    dedup_key === undefined && status === undefined
      ? null
      : {
          action: readStatus(status, faults),
          dedupKey: readDedupKey(dedup_key, faults),
          instance: storedText(instance, namedLimits.instance) || null,
          expiresAt: readTime(expires_at),
        };
  if (
    links === undefined &&
    images === undefined &&
    details === undefined &&
    occurred_at === undefined
  )
    return named === null ? NONE : { named, extra: null };
  const extra = {
    details: storedText(details, namedLimits.details) || null,
    links: readLinks(links),
    images: readImages(images),
    occurredAt: readTime(occurred_at),
  };
  return { named, extra };
}

function readStatus(status: unknown, faults: ErrorDetail[]): NamedState["action"] {
  if (status === undefined) return "fire";
  if (typeof status === "string" && Object.hasOwn(STATUSES, status))
    return STATUSES[status as keyof typeof STATUSES];
  faults.push({ field: "/status", reason: `must be one of ${Object.keys(STATUSES).join(", ")}` });
  return "fire";
}

function readDedupKey(key: unknown, faults: ErrorDetail[]): string | null {
  if (key === undefined) return null;
  if (
    typeof key !== "string" ||
    key === "" ||
    !fits(key, namedLimits.dedupKey) ||
    !isStorable(key)
  ) {
    faults.push({
      field: "/dedup_key",
      reason: `must be a string of 1 to ${namedLimits.dedupKey} characters without NUL or half a surrogate pair`,
    });
    return null;
  }
  return key;
}

function storedText(value: unknown, most: number): string {
  return typeof value === "string" ? cut(storableMessage(value), most) : "";
}

function readTime(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= LATEST
    ? (value as number)
    : null;
}

function readLinks(value: unknown): Extra["links"] {
  return items(value, namedLimits.links).flatMap(({ href, text }) =>
    isWebAddress(href)
      ? [
          {
            href,
            text: storedText(text, namedLimits.linkText) || href.slice(0, namedLimits.linkText),
          },
        ]
      : [],
  );
}

function readImages(value: unknown): Extra["images"] {
  return items(value, namedLimits.images).flatMap(({ src, href, alt }) =>
    isWebAddress(src)
      ? [
          {
            src,
            ...(isWebAddress(href) ? { href } : {}),
            ...(typeof alt === "string" ? { alt: storedText(alt, namedLimits.linkText) } : {}),
          },
        ]
      : [],
  );
}

function items(value: unknown, most: number): Record<string, unknown>[] {
  return Array.isArray(value)
    ? value.filter((item) => typeof item === "object" && item !== null).slice(0, most)
    : [];
}

/** Whether it is an http or https address that can be shown as a link. */
export function isWebAddress(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= namedLimits.href &&
    /^https?:\/\/[^\s\u0000-\u001f]+$/i.test(value) &&
    URL.canParse(value) &&
    isStorable(value)
  );
}
