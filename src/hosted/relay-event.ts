import { parseJson } from "../ground/kit/json.ts";

/** An event that a box relays (contract §6, §7). A missing field is empty. */
export interface RelayedEvent {
  event: string;
  alertId: string;
  project: string;
  rule: string;
  /** What the alert is called; from a box that sends no title, its template. */
  template: string;
  count: number;
  level: number;
  /** The box account ids that an escalation names; null where the event names nobody. */
  pageAccounts: string[] | null;
  /** The event's own time in seconds; null where it has none. */
  timestamp: number | null;
  boxTenantId: string;
  boxUrl: string;
  /** Identifies the box's start; empty where the box doesn't send it. */
  boot: string;
}

const EVENT_CHARS = 64;
const ALERT_CHARS = 256;

/**
 * Reads a relayed body, or returns a sentence with what is wrong. Only the three fields that the contract promises are
 * required (contract §17, rule 3): a page must not be lost over the rest.
 */
export function readRelayedEvent(rawBody: Uint8Array): RelayedEvent | string {
  const fields = objectOf(rawBody);
  if (fields === null) return "The body is no JSON object.";
  const event = fields["event"];
  const alertId = fields["alert_id"];
  const project = fields["project"];
  if (!isText(event, EVENT_CHARS) || event === "") return "/event must be a short text.";
  if (!isText(alertId, ALERT_CHARS)) return "/alert_id must be a short text.";
  if (typeof project !== "string") return "/project must be a text.";
  return {
    event,
    alertId,
    project,
    rule: text(fields["rule"]),
    template: text(fields["title"]) || text(fields["template"]) || text(fields["last_message"]),
    count: number(fields["count"], 1),
    level: number(fields["level"], 0),
    pageAccounts: accountsOf(fields["page_accounts"]),
    timestamp: Number.isSafeInteger(fields["timestamp"]) ? Number(fields["timestamp"]) : null,
    boxTenantId: text(fields["tenant_id"]),
    boxUrl: text(fields["box_public_url"]),
    boot: bootOf(fields["boot_id"]),
  };
}

/** Whether a box can announce this address: http or https, short, without a password. */
export function isBoxUrl(url: string): boolean {
  if (url.length > 2048 || !URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === "" && password === "";
}

function objectOf(rawBody: Uint8Array): Record<string, unknown> | null {
  try {
    const value = parseJson(Buffer.from(rawBody).toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function isText(value: unknown, most: number): value is string {
  return typeof value === "string" && value.length <= most && value.isWellFormed();
}

function bootOf(value: unknown): string {
  return typeof value === "string" && /^[\w-]{1,64}$/.test(value) ? value : "";
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown, otherwise: number): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}

function accountsOf(value: unknown): string[] | null {
  if (!Array.isArray(value)) return null;
  return value.filter((account): account is string => typeof account === "string");
}
