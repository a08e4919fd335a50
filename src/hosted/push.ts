import { sha256 } from "../ground/kit/ids.ts";
import type { RelayedEvent } from "./relay-event.ts";

/** APNs refuses a larger payload (413). */
const PAYLOAD_BYTES = 4096;
const TITLE_BYTES = 400;
const FIELD_BYTES = 200;
const COLLAPSE_BYTES = 64;
const CRITICAL_LEVEL = 500;
const CUT = "…";

/** The part of an event's body that a phone shows (contract §6). Every text may be empty. */
export interface PagedEvent
  extends Pick<
    RelayedEvent,
    "event" | "alertId" | "project" | "rule" | "template" | "count" | "level"
  > {
  /** The hosted tenant's id, by which the app knows the box. */
  tenantId: string;
}

/** What a phone shows, before it is cut to size. */
export interface Notice {
  title: string;
  body: string;
  /** A short text after the body that is never cut. */
  tail: string;
  /** Whether it may sound although the phone is silent, on a device that allows critical alerts. */
  critical: boolean;
  /** Notifications of one thread are shown together. */
  thread: string;
  /** Small plain fields for the app, next to `aps`. */
  fields: Readonly<Record<string, string>>;
}

/** Events that end a page: they replace it on the phone, without a sound. */
const OVER: Readonly<Record<string, string>> = {
  "alert.acknowledged": "Acknowledged",
  "alert.resolved": "Resolved",
};

/** Title = project and rule, body = template and count (contract §7, Push). */
export function noticeOf(event: PagedEvent): Notice {
  const where = [event.project, event.rule].filter((text) => text !== "").join(": ");
  const test = event.event === "alert.test" ? "Test alert" : "Alert";
  const over = OVER[event.event];
  const isUrgent = event.event === "alert.escalated" || event.level >= CRITICAL_LEVEL;
  return {
    title: [over ?? "", where === "" ? test : where].filter((text) => text !== "").join(": "),
    body: event.template,
    tail: ` (×${event.count})`,
    critical: over === undefined && isUrgent,
    thread: event.project,
    fields: {
      event: event.event,
      tenant_id: event.tenantId,
      alert_id: event.alertId,
      project: event.project,
    },
  };
}

/**
 * The payload's JSON, at most 4,096 bytes for any notice. Fields and title are cut to their own limits, the body to
 * what is left, each at a grapheme boundary.
 */
export function buildPayload(notice: Notice, device: { criticalAlerts: boolean }): string {
  const whole = payloadJson(notice, device.criticalAlerts);
  if (Buffer.byteLength(whole) <= PAYLOAD_BYTES) return whole;
  const fields = Object.entries(notice.fields).map(
    ([name, value]) => [name, cutToBytes(value, FIELD_BYTES)] as const,
  );
  const small: Notice = {
    ...notice,
    title: cutToBytes(notice.title, TITLE_BYTES),
    thread: cutToBytes(notice.thread, FIELD_BYTES),
    fields: Object.fromEntries(fields),
    body: "",
  };
  const left = PAYLOAD_BYTES - Buffer.byteLength(payloadJson(small, device.criticalAlerts));
  return payloadJson({ ...small, body: cutToBytes(notice.body, left) }, device.criticalAlerts);
}

function payloadJson(notice: Notice, criticalAllowed: boolean): string {
  const critical = notice.critical && criticalAllowed;
  // Many parsers refuse a text with half a surrogate pair, and the phone would stay silent.
  const whole = (_name: string, value: unknown) =>
    typeof value === "string" ? value.toWellFormed() : value;
  const payload = {
    aps: {
      alert: { title: notice.title, body: notice.body + notice.tail },
      sound: critical ? { critical: 1, name: "default", volume: 1 } : "default",
      "interruption-level": critical ? "critical" : "time-sensitive",
      "thread-id": notice.thread,
    },
    ...notice.fields,
  };
  return JSON.stringify(payload, whole);
}

/** `text` where its JSON form (without quotes) has at most `max` bytes, else whole graphemes and an ellipsis. */
export function cutToBytes(text: string, max: number): string {
  if (jsonBytes(text) <= max) return text;
  const room = max - Buffer.byteLength(CUT);
  let used = 0;
  let end = 0;
  // Every UTF-16 unit takes at least one byte, so nothing after `max` units can stay.
  for (const { segment } of graphemes.segment(text.slice(0, max))) {
    used += jsonBytes(segment);
    if (used > room) break;
    end += segment.length;
  }
  return text.slice(0, end) + CUT;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}

/** `apns-collapse-id` of tenant and alert, at most 64 bytes: a page that is sent twice is shown once. */
export function collapseId(tenantId: string, alertId: string): string {
  const plain = `${tenantId}.${alertId}`;
  const fits = plain.length <= COLLAPSE_BYTES && /^[\w.-]+$/.test(plain);
  return fits ? plain : sha256(plain);
}
