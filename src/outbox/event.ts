import type { Alert } from "../alerts/alert.ts";
import { cut } from "../kit/text.ts";

/** Every kind of event (decisions §6). */
export const eventKinds = [
  "alert.opened",
  "alert.escalated",
  "alert.renotified",
  "alert.acknowledged",
  "alert.resolved",
  "alert.test",
  "integration.disabled",
] as const;

export type EventKind = (typeof eventKinds)[number];

/** The body of every webhook: the API document names the first four fields, decisions §6 the rest. */
export interface EventBody {
  event: EventKind;
  event_id: string;
  alert_id: string;
  project: string;
  rule: string;
  state: string;
  template: string;
  level: number;
  count: number;
  first_seen: number;
  last_seen: number;
  last_message: string;
  identifiers: Record<string, string>;
  investigate: boolean;
  escalation_level: number;
  page_accounts: string[];
  timestamp: number;
  tenant_id: string;
  test?: true;
  truncated?: true;
}

export interface EventInput {
  event: EventKind;
  event_id: string;
  alert_id: string;
  tenant_id: string;
  timestamp: number;
  alert: Omit<Alert, "id" | "updated_seq">;
  test?: true;
}

const MOST_BYTES = 32 * 1024;
const LONGEST_MESSAGE = 4096;

/**
 * The event as JSON, at most 32 KiB whatever the alert holds: last_message is cut to 4,096 characters,
 * then, if need be, everything that is long, step by step; `truncated` says so (decisions §6).
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
    ...(input.test ? { test: true } : {}),
  };
  if (body.last_message !== alert.last_message) body.truncated = true;
  let text = JSON.stringify(body);
  for (let longest = 2048; Buffer.byteLength(text) > MOST_BYTES && longest >= 16; longest /= 2) {
    text = JSON.stringify(shorten(body, longest));
  }
  return text;
}

/** The body with no long text over `longest` characters; of identifiers as many as `longest` allows. */
function shorten(body: EventBody, longest: number): EventBody {
  const identifiers = Object.entries(body.identifiers)
    .slice(0, longest)
    .map(([key, value]) => [key, cut(value, longest)]);
  return {
    ...body,
    template: cut(body.template, longest),
    last_message: cut(body.last_message, Math.max(longest, 256)),
    identifiers: Object.fromEntries(identifiers) as Record<string, string>,
    page_accounts: body.page_accounts.slice(0, longest * 4),
    truncated: true,
  };
}
