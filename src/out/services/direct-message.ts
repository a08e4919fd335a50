import type { Sent } from "../outbox/destination.ts";
import type { EventBody } from "../outbox/event.ts";
import type { EventNames } from "../outbox/event-names.ts";
import type { Urgency } from "./texts.ts";

/** What one message to one person says, whichever way it goes. */
export interface DirectMessage {
  /**
   * `page`: take it. `note`: what became of what the person was told. `code` proves an address, `test` tries it; `shift`
   * says that one begins.
   */
  purpose: "page" | "note" | "code" | "test" | "shift";
  /** The same in every attempt, so that a service that can tell may drop a double. */
  id: string;
  /** One line. */
  title: string;
  /** More, a line each; empty where the title says it all. */
  lines: readonly string[];
  /** The highest level of the alerts that it names; 0 where it names none. */
  level: number;
  /** Where to look, when the box has a public address. */
  link: string | null;
  /** How it can be answered: `url` by a page (null: no public address), `handle` where room is short. */
  ack: { url: string | null; handle: string } | null;
  /** The digits that the person types back; null but for `code`. */
  code: string | null;
  /** The events of the alerts that it names, oldest first. */
  events: readonly EventBody[];
  /** What is told beside the first of them; null where nothing is, or it names none. */
  said: EventNames | null;
}

/** How an attempt ended. */
export interface DirectSent extends Sent {
  /** The service refused who asks, not whom it is for: the gateway's login or settings, or there is no gateway. */
  refused?: true;
  /** What the service calls the message: for edits, receipts and callbacks. At most 200 characters. */
  ref?: string;
}

/** A `ref` where the service gave a usable one. */
export function withRef(sent: Sent, ref: unknown): DirectSent {
  const { verdict } = sent;
  const isOne = typeof ref === "string" && ref !== "" && ref.length <= 200;
  return verdict.kind === "delivered" && isOne ? { verdict, ref } : { verdict };
}

/** A page rings; what only tells how it went on makes no sound. */
export function loudnessOfDirect({ purpose, level }: DirectMessage): Urgency {
  if (purpose === "note") return "silent";
  if (purpose !== "page") return "usual";
  return level >= 500 ? "through" : "rings";
}

/** What messages about one alert have in common; null for one about several, or about none. */
export function threadOf({ events }: DirectMessage): string | null {
  const alerts = new Set(events.map(({ tenant_id, alert_id }) => `${tenant_id}-${alert_id}`));
  const [only = null] = alerts;
  return alerts.size === 1 ? only : null;
}

/** As plain text, one part a line. */
export function directText({ title, lines, link }: DirectMessage): string {
  return [title, ...lines, link].filter(Boolean).join("\n");
}
