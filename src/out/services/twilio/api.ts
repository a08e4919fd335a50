import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { cut } from "../../../ground/kit/text.ts";
import { limitsOf, type Via, verdictOf } from "../../outbox/senders/sent.ts";
import { type DirectMessage, type DirectSent, withRef } from "../direct-message.ts";
import {
  type Answer,
  type Answered,
  jsonIn,
  objectIn,
  postForm,
  refusedFor,
  saying,
  under,
  unlessTaken,
} from "../post.ts";

const PUBLIC_API = "https://api.twilio.com";

/** What Twilio's refusals mean; after any other another attempt may get through. */
export const twilioRefusals = {
  /** The login, the account, the number or the service that it comes from. */
  settings:
    /^http 401\b|: code (20003|20005|20404|21210|21212|21213|21603|21606|21659|21660|21703|30002)$/,
  /** Its owner texted STOP. */
  gone: /: code 21610$/,
  /** No number, or one whose owner said stop: nothing but another number helps. */
  forGood: new Set<unknown>([21_211, 21_217, 21_401, 21_610, 21_614, 13_223, 13_224]),
};

/** A number as the telephone network writes it (E.164). */
export const phone = text(16, 1).regex(/^\+[1-9]\d{6,14}$/, {
  error: "must be a number with its country's code, like +491701234567",
});

/** What texts and calls go through. What is empty is as good as left out. */
export const twilioAccount = z.strictObject({
  account_sid: text(34)
    .regex(/^AC[0-9a-f]{32}$/i, { error: "must be AC and 32 hex characters" })
    .meta({ description: "the account's SID" }),
  auth_token: text(64, 1).meta({
    description: "the account's token, which signs what Twilio calls back with",
  }),
  api_key: text(34).optional().meta({
    description: "Twilio API key, with which requests are made in place of the auth token",
  }),
  api_secret: text(128).optional().meta({ description: "its secret" }),
  from: phone.optional().meta({ description: "the number that texts and calls come from" }),
  messaging_service_sid: text(34)
    .optional()
    .meta({ description: "a messaging service for texts, in place of one number" }),
  url: text(2048).optional().meta({ description: "a region's address" }),
});
export type TwilioGateway = z.output<typeof twilioAccount>;

/** What a text and a call have in common. */
export interface PhoneMessage {
  gateway: TwilioGateway;
  /** `+15550002222`. */
  to: string;
  message: DirectMessage;
  /** Where Twilio says what became of it; null: nowhere that it could reach. */
  statusUrl: string | null;
  /** When an attempt began whose end isn't known, in Unix milliseconds. */
  since?: number;
}

/** A text or a call as it is ordered. */
interface TwilioOrder {
  resource: "Messages" | "Calls";
  form: readonly (readonly [name: string, value: string])[];
  /** Whether something that was made is what is ordered here; whom it goes to and when are looked at already. */
  isIt(made: Answer): boolean;
  /** When an attempt began whose end isn't known, in Unix milliseconds: it is looked for before there is another. */
  since?: number | undefined;
}

const ATTEMPT_MS = 10_000;
/** Twilio's clock may be behind ours by this; more would take the page before for this one. */
const CLOCKS_MS = 10_000;

/**
 * Orders it. There are no ids for attempts: where the answer is lost, it is looked for among what was made, at once
 * and before the next attempt. `ref` is its SID. Errors hold Twilio's number for it, `code 21211`, and none of its words.
 */
export async function orderAtTwilio(
  via: Via,
  gateway: TwilioGateway,
  order: TwilioOrder,
): Promise<DirectSent> {
  const limit = via.timeoutMs ?? ATTEMPT_MS;
  const looking = Math.floor(limit * 0.3);
  const asking = limit - looking * (order.since === undefined ? 1 : 2);
  if (order.since !== undefined) {
    const earlier = await findOrder({ ...via, timeoutMs: looking }, gateway, order);
    if (earlier.verdict.kind !== "later" || earlier.verdict.error !== NOT_FOUND) return earlier;
  }
  const answered = await postForm({ ...via, timeoutMs: asking }, resourceOf(gateway, order), {
    headers: loginOf(gateway),
    body: order.form,
    why: () => undefined,
  });
  const posted = judged(unlessTaken(answered, ({ sid }) => isSid(sid)));
  const { verdict } = posted;
  if (verdict.kind !== "later" || !UNCERTAIN.has(verdict.error))
    return withRef(posted, answered.answer["sid"]);
  const left = { ...via, timeoutMs: looking };
  const made = await findOrder(left, gateway, { ...order, since: via.now });
  return made.verdict.kind === "delivered" ? made : { verdict };
}

/** It may have been made although nothing said so. */
const UNCERTAIN: ReadonlySet<string> = new Set([
  "timeout",
  "body_too_slow",
  "reset",
  "closed",
  "bad_response",
  "network",
]);
const NOT_FOUND = "not ordered yet";

/** Looks for it among the newest that went to the same number. */
async function findOrder(
  via: Via,
  gateway: TwilioGateway,
  order: TwilioOrder,
): Promise<DirectSent> {
  const to = new URLSearchParams(order.form as [string, string][]).get("To") ?? "";
  const query = new URLSearchParams({ To: to, PageSize: "20" });
  const result = await via.egress.send({
    ...limitsOf(via),
    method: "GET",
    url: `${resourceOf(gateway, order)}?${query}`,
    maxBytes: 131_072,
    headers: loginOf(gateway),
  });
  // Whoever may order and not look, as a restricted key, is called twice rather than never.
  if (isForbidden(result.status)) return { verdict: { kind: "later", error: NOT_FOUND } };
  const verdict = verdictOf(result, via.now);
  if (verdict.kind !== "delivered") return { verdict };
  const earliest = (order.since ?? via.now) - CLOCKS_MS;
  const found = listed(result.body, order.resource).find(
    (made) =>
      made["to"] === to &&
      !/^(failed|canceled)$/.test(String(made["status"])) &&
      Date.parse(String(made["date_created"])) >= earliest &&
      order.isIt(made),
  );
  const error = NOT_FOUND;
  if (found === undefined) return { verdict: { kind: "later", error } };
  return withRef({ verdict: { kind: "delivered", status: verdict.status } }, found["sid"]);
}

const isForbidden = (status: number | null): boolean => status === 401 || status === 403;

function listed(json: string, resource: TwilioOrder["resource"]): Answer[] {
  const list = jsonIn(json)[resource.toLowerCase()];
  return Array.isArray(list) ? list.map(objectIn) : [];
}

function resourceOf(gateway: TwilioGateway, { resource }: TwilioOrder): string {
  return accountUrl(gateway, `/${resource}.json`);
}

/** A path of the account. */
export function accountUrl({ url = "", account_sid: sid }: TwilioGateway, path: string): string {
  return under(url || PUBLIC_API, `/2010-04-01/Accounts/${encodeURIComponent(sid)}${path}`);
}

function loginOf({ account_sid, auth_token, api_key = "", api_secret = "" }: TwilioGateway) {
  return api_key && api_secret
    ? twilioLogin(api_key, api_secret)
    : twilioLogin(account_sid, auth_token);
}

export function twilioLogin(user: string, password: string): { Authorization: string } {
  return { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
}

function judged(answered: Answered): Answered {
  const { code } = answered.answer;
  const told = Number.isInteger(code) ? saying(answered, `code ${code}`) : answered;
  return refusedFor(told, () => twilioRefusals.forGood.has(code));
}

function isSid(sid: unknown): boolean {
  return typeof sid === "string" && /^[A-Z]{2}[0-9a-f]{32}$/.test(sid);
}

/** Words as TwiML can hold them, cut to so many characters. */
export function speakable(words: string, most: number): string {
  return cut(words.toWellFormed(), most).replace(
    /[^\n\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu,
    " ",
  );
}
