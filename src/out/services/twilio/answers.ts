import { createHmac, timingSafeEqual } from "node:crypto";
import { escapeMarkup } from "../../../ground/kit/html.ts";
import { speakable } from "./api.ts";

/** What Twilio calls back with: forms, each signed with the account's token over the address that it called. */

/**
 * Whether `header` (`X-Twilio-Signature`) was made with the token over the form and one of the addresses, in time that
 * doesn't depend on how nearly. `urls`: as Twilio was given it; each counts with and without its usual port.
 */
export function twilioSignatureOk(
  authToken: string,
  urls: readonly string[],
  params: URLSearchParams,
  header: string,
): boolean {
  const given = Buffer.from(header);
  const fields = fieldsText(params);
  let isGood = false;
  for (const url of urls.flatMap(writings)) {
    const hmac = createHmac("sha1", authToken).update(url + fields);
    const expected = Buffer.from(hmac.digest("base64"));
    if (given.length === expected.length && timingSafeEqual(given, expected)) isGood = true;
  }
  return isGood;
}

/** Names in order, each with its values behind it, each value once. */
function fieldsText(params: URLSearchParams): string {
  return [...new Set(params.keys())]
    .sort()
    .flatMap((name) => [...new Set(params.getAll(name))].sort().map((value) => name + value))
    .join("");
}

/** An address with and without the port that its scheme means anyway. */
function writings(url: string): string[] {
  const [, scheme = "", host = "", port = "", rest = ""] =
    /^(https?):\/\/([^/?#]*?)(:\d+)?([/?#].*)?$/i.exec(url) ?? [];
  if (scheme === "") return [];
  const usual = scheme.toLowerCase() === "https" ? ":443" : ":80";
  if (port !== "" && port !== usual) return [url];
  return [`${scheme}://${host}${rest}`, `${scheme}://${host}${usual}${rest}`];
}

/** How far a text or a call got. */
interface TwilioProgress {
  /** What `sendSms` or `placeCall` answered as `ref`. */
  ref: string;
  /** `delivered`: on the phone, or the call was answered; `failed`: it won't be. */
  outcome: "accepted" | "delivered" | "failed";
  /** For people: `busy`, `undelivered: code 30003`. */
  detail: string;
}

const OUTCOMES: ReadonlyMap<string, TwilioProgress["outcome"]> = new Map([
  ...["accepted", "scheduled", "queued", "sending", "sent", "initiated", "ringing"].map(
    (status) => [status, "accepted"] as const,
  ),
  ...["delivered", "read", "in-progress", "completed"].map(
    (status) => [status, "delivered"] as const,
  ),
  ...["undelivered", "failed", "busy", "no-answer", "canceled"].map(
    (status) => [status, "failed"] as const,
  ),
]);

/** Reads a status callback; null for anything else, and for a status that nobody knows. */
export function readTwilioStatus(params: URLSearchParams): TwilioProgress | null {
  const [ref, status] = [
    params.get("CallSid") ?? params.get("MessageSid") ?? "",
    params.get("CallStatus") ?? params.get("MessageStatus") ?? "",
  ];
  const outcome = OUTCOMES.get(status);
  if (outcome === undefined || !/^[A-Z]{2}[0-9a-f]{32}$/.test(ref)) return null;
  const code = /^\d{1,6}$/.exec(params.get("ErrorCode") ?? "")?.[0];
  return { ref, outcome, detail: code === undefined ? status : `${status}: code ${code}` };
}

/** What a key means; null for one that means nothing. */
export function readTwilioKey(
  params: URLSearchParams,
): "acknowledge" | "resolve" | "repeat" | null {
  const meanings = { "4": "acknowledge", "6": "resolve", "9": "repeat" } as const;
  const key = params.get("Digits") ?? "";
  return key === "4" || key === "6" || key === "9" ? meanings[key] : null;
}

/** An answer to a text: who, what, and which alert by its handle or its number; null for other words. */
interface SmsReply {
  from: string;
  verb: "acknowledge" | "resolve";
  /** Lower case; empty where only the verb was sent. */
  which: string;
}

/** Reads `ack k3v9x2m7q4t8`, `ack 17`, `resolve 17`, `17a`, `17c` and the verb alone. */
export function readSmsReply(params: URLSearchParams): SmsReply | null {
  const from = params.get("From") ?? "";
  const text = (params.get("Body") ?? "").trim().toLowerCase();
  if (!/^\+\d{5,15}$/.test(from) || text.length > 100) return null;
  const spoken = /^(ack|acknowledge|resolve|close)(?:\s+#?([a-z0-9]{1,32}))?[.!]?$/.exec(text);
  const short = /^#?(\d{1,19})\s*([ac])$/.exec(text);
  const word = spoken?.[1] ?? short?.[2];
  if (word === undefined) return null;
  const verb = word.startsWith("a") ? "acknowledge" : "resolve";
  return { from, verb, which: spoken?.[2] ?? short?.[1] ?? "" };
}

/** What is texted back, as TwiML; null: nothing. */
export function replyTwiml(sentence: string | null): string {
  if (sentence === null) return "<Response/>";
  return `<Response><Message>${escapeMarkup(speakable(sentence, 300))}</Message></Response>`;
}
