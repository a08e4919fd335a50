import type { ErrorDetail } from "../../ground/kit/errors.ts";
import { cut, fits, isStorable, storableMessage } from "../../ground/kit/text.ts";

/** What a sender that names its alerts says of one (contract §22). */
export interface NamedState {
  /** `note` adds to its history; `update` changes what `updates` says; `change` is a line to look at beside other alerts. */
  action: "fire" | "resolve" | "acknowledge" | "note" | "update" | "change";
  /** Which alert; null where the sender left it out. */
  dedupKey: string | null;
  /** Where no alert has this name, it may be the UUID that was answered for one: `uuidOf` its name. */
  mayBeId?: boolean;
  /** Of an update: what of the event the alert has from now on. A level is only raised, and what was asked is noted. */
  updates?: "level" | "message" | "details";
  /** Which firing of it: the same one again is the same firing reported again. */
  instance: string | null;
  /** Unix seconds: the sender reports again before then. */
  expiresAt: number | null;
  /**
   * Of an end: when it ended by the sender's clock, Unix seconds, where one sender speaks for all who watch the same. What
   * began before that is over, whichever beginning it tells of.
   */
  endedAt?: number | null;
  /** It began, and ended within the last hour: where it was never heard of before, perhaps a clock is off. */
  justEnded?: boolean;
}

/** What a person may want to see beside an alert's message; kept with the alert. */
export interface Extra {
  details: string | null;
  links: readonly { href: string; text: string }[];
  /** Never fetched: shown as links. */
  images: readonly { src: string; href?: string; alt?: string }[];
  /** Unix seconds by the sender's clock. */
  occurredAt: number | null;
}

/** What an event's JSON says beyond the contract's fields (contract §22). */
export interface NamedFields {
  named: NamedState | null;
  extra: Extra | null;
}

const STATUSES = { firing: "fire", acknowledged: "acknowledge", resolved: "resolve" } as const;
/** Characters, and for lists how many. */
export const namedLimits = {
  dedupKey: 512,
  instance: 64,
  details: 32_768,
  links: 16,
  images: 8,
  href: 2048,
  linkText: 128,
} as const;
/** Past any time in seconds: milliseconds sent by mistake. */
const LATEST = 100_000_000_000;

const NONE: NamedFields = { named: null, extra: null };

/**
 * Reads them. A bad `dedup_key` or `status` is a fault; what else is of a shape that it can't be is left alone, as any
 * unknown field is, and what is too long is cut: losing the event is worse.
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

/** Whether it is an http or https address that a person may be given to click on. */
export function isWebAddress(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= namedLimits.href &&
    /^https?:\/\/[^\s\u0000-\u001f]+$/i.test(value) &&
    URL.canParse(value) &&
    isStorable(value)
  );
}
