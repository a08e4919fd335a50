import { cut } from "../../../ground/kit/text.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import {
  type DirectMessage,
  type DirectSent,
  loudnessOfDirect,
  withRef,
} from "../direct-message.ts";
import { refusedFor } from "../room.ts";
import { callPushover } from "./room.ts";

/** The tenant's application. */
export interface PushoverGateway {
  token: string;
  /** A server of one's own; empty: the public one. */
  url?: string | undefined;
}

/** One attempt at one person. */
export interface PushoverDirect {
  gateway: PushoverGateway;
  /** The person's user key. */
  address: string;
  message: DirectMessage;
}

const PUBLIC_API = "https://api.pushover.net";

const api = ({ token, url = "" }: PushoverGateway) => ({
  apiUrl: (url || PUBLIC_API).replace(/\/+$/, ""),
  token,
});

/** Sends a message; a page of level 500 is an emergency, whose receipt is `ref`. Other messages have none. */
export async function sendPushoverDirect(via: Via, request: PushoverDirect): Promise<DirectSent> {
  const { gateway, address, message } = request;
  const answered = await callPushover(via, api(gateway), {
    path: "messages",
    fields: { user: address, ...pushoverDirectFields(message), timestamp: seconds(via.now) },
  });
  const posted = refusedFor(answered, ({ user }) => user === "invalid");
  return withRef(posted, posted.answer["receipt"]);
}

const seconds = (ms: number) => String(Math.floor(ms / 1_000));

/** Ends an emergency's ringing. One that is over, or that Pushover doesn't know, has nothing to end: `delivered`. */
export async function stopPushover(
  via: Via,
  { gateway }: Pick<PushoverDirect, "gateway">,
  ref: string,
): Promise<DirectSent> {
  const path = `receipts/${encodeURIComponent(ref)}/cancel`;
  const { verdict, answer } = await callPushover(via, api(gateway), { path });
  const isGone = verdict.kind === "later" && answer["receipt"] === "not found";
  return { verdict: isGone ? { kind: "delivered", status: 404 } : verdict };
}

/** How an emergency stands. */
export interface PushoverReceipt {
  /** When the person took it there, in Unix seconds; null while nobody has. */
  acknowledgedAt: number | null;
  /** It rings no more, whoever did what. */
  isOver: boolean;
}

/** Asks how an emergency stands; Pushover wants five seconds between two questions. null: not to be had now. */
export async function readPushoverReceipt(
  via: Via,
  { gateway }: Pick<PushoverDirect, "gateway">,
  ref: string,
): Promise<PushoverReceipt | null> {
  const { apiUrl, token } = api(gateway);
  const query = new URLSearchParams({ token });
  const { status, body } = await via.egress.send({
    method: "GET",
    url: `${apiUrl}/1/receipts/${encodeURIComponent(ref)}.json?${query}`,
  });
  const told = status === 200 ? receiptIn(body) : null;
  if (told === null || told["status"] !== 1) return null;
  const { acknowledged, acknowledged_at: at, expired } = told;
  const isTaken = acknowledged === 1 && Number.isSafeInteger(at);
  return { acknowledgedAt: isTaken ? (at as number) : null, isOver: isTaken || expired === 1 };
}

function receiptIn(json: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(json);
    return typeof read === "object" ? (read as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

/** In characters. */
const TITLE = 250;
const MESSAGE = 1_024;
const LONGEST_URL = 512;
const PRIORITIES = { through: "2", rings: "1", usual: "0", silent: "-1" } as const;

/** The message's fields. No HTML is asked for, so there is no markup. */
export function pushoverDirectFields(message: DirectMessage): Record<string, string> {
  const { title, lines, link, ack } = message;
  const whole = lines.filter(Boolean).join("\n");
  const kept = cut(whole, MESSAGE - 1);
  const priority = PRIORITIES[loudnessOfDirect(message)];
  const [url, named] = ack === null || ack.url === null ? [link, "Open"] : [ack.url, "Acknowledge"];
  return {
    title: cut(title, TITLE),
    message: (kept === whole ? kept : `${kept}…`) || cut(title, TITLE),
    priority,
    ...(url !== null && url.length <= LONGEST_URL && { url, url_title: named }),
    // Every minute for fifty minutes: as often as it rings in one emergency.
    ...(priority === "2" && { retry: "60", expire: "3600" }),
  };
}
