import { cut } from "../../ground/kit/text.ts";

/** Every kind of event (contract §6). */
export const eventKinds = [
  "alert.opened",
  "alert.escalated",
  "alert.renotified",
  "alert.acknowledged",
  "alert.resolved",
  "alert.test",
  "integration.disabled",
] as const;

/** What a channel can ask to hear. */
export type SubscribedKind = (typeof eventKinds)[number];

/** `digest` goes to the one channel that it is meant for, whatever that one asked to hear. */
export type EventKind = SubscribedKind | "digest";

/** What an event tells of its alert (contract §13, Alert). */
export interface AlertFacts {
  project: string;
  rule: string;
  state: string;
  template: string;
  /** What its sender calls it, in one line; absent where it doesn't. */
  title?: string | null;
  level: number;
  count: number;
  first_seen: number;
  last_seen: number;
  last_message: string;
  identifiers: Record<string, string>;
  investigate: boolean;
  escalation_level: number;
  page_accounts: string[];
  /** Nothing is wrong: somebody tries whom it reaches. */
  drill?: boolean;
}

/** The body of every webhook (contract §17, rule 3, contract §6, Body). */
export interface EventBody extends AlertFacts {
  event: EventKind;
  event_id: string;
  alert_id: string;
  timestamp: number;
  tenant_id: string;
  test?: true;
  truncated?: true;
  /** `integration.disabled`: which one, and why. */
  integration?: DisabledIntegration;
}

interface DisabledIntegration {
  id: string;
  name: string;
  type: string;
  reason: string;
}

export interface EventInput {
  event: EventKind;
  event_id: string;
  alert_id: string;
  tenant_id: string;
  timestamp: number;
  alert: AlertFacts;
  test?: true;
  integration?: DisabledIntegration;
}

const MOST_BYTES = 32 * 1024;
const LONGEST_MESSAGE = 4096;

/**
 * The event as JSON, at most 32 KiB whatever the alert holds: last_message is cut to 4,096 characters,
 * then, if need be, the template and the identifier values are, then identifiers are left out, and
 * only then is the message cut further; `truncated` says so (contract §6). Who is paged is never cut.
 */
export function buildEventBody(input: EventInput): string {
  const { alert } = input;
  const body: EventBody = {
    event: input.event,
    event_id: input.event_id,
    alert_id: input.alert_id,
    project: alert.project,
    rule: alert.rule,
    state: alert.state,
    template: alert.template,
    level: alert.level,
    count: alert.count,
    first_seen: alert.first_seen,
    last_seen: alert.last_seen,
    last_message: cut(alert.last_message, LONGEST_MESSAGE),
    identifiers: alert.identifiers,
    investigate: alert.investigate,
    escalation_level: alert.escalation_level,
    page_accounts: alert.page_accounts,
    timestamp: input.timestamp,
    tenant_id: input.tenant_id,
    ...(alert.title ? { title: alert.title } : {}),
    ...(alert.drill ? { drill: true } : {}),
    ...(input.test ? { test: true } : {}),
    ...(input.integration ? { integration: input.integration } : {}),
  };
  if (body.last_message !== alert.last_message) body.truncated = true;
  let text = JSON.stringify(body);
  for (const limits of tighterAndTighter()) {
    if (Buffer.byteLength(text) <= MOST_BYTES) break;
    text = JSON.stringify(shorten(body, limits));
  }
  return text;
}

interface Limits {
  /** Characters of the template and of each identifier's value. */
  long: number;
  identifiers: number;
  message: number;
}

function* tighterAndTighter(): Generator<Limits> {
  const limits = { long: 2048, identifiers: Number.POSITIVE_INFINITY, message: LONGEST_MESSAGE };
  for (; limits.long >= 64; limits.long /= 2) yield limits;
  for (limits.identifiers = 64; limits.identifiers >= 4; limits.identifiers /= 2) yield limits;
  for (limits.message = 2048; limits.message >= 256; limits.message /= 2) yield limits;
}

function shorten(body: EventBody, { long, identifiers, message }: Limits): EventBody {
  const kept = Object.entries(body.identifiers).slice(0, identifiers);
  return {
    ...body,
    template: cut(body.template, long),
    last_message: cut(body.last_message, message),
    identifiers: Object.fromEntries(kept.map(([key, value]) => [key, cut(value, long)])),
    truncated: true,
  };
}
