import { limitsOf, type Via, verdictOf } from "../../outbox/senders/sent.ts";
import { type DirectSent, withRef } from "../direct-message.ts";
import { type Answer, type Answered, postForm, unlessTaken } from "../room.ts";

/** What texts and calls go through. What is empty is as good as left out. */
export interface TwilioGateway {
  /** `AC…`. */
  account_sid: string;
  /** Signs what Twilio calls back with; logs in, too, where there is no key. */
  auth_token: string;
  /** `SK…` and its secret, which can be revoked alone. */
  api_key?: string | undefined;
  api_secret?: string | undefined;
  /** The number that it comes from. */
  from?: string | undefined;
  /** `MG…`: a set of numbers for texts, in place of one. */
  messaging_service_sid?: string | undefined;
  /** A region's address; the usual one where it is left out. */
  url?: string | undefined;
}

const PUBLIC_API = "https://api.twilio.com";

/** A text or a call as it is ordered. */
export interface TwilioOrder {
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
  try {
    const list = JSON.parse(json)[resource.toLowerCase()];
    return Array.isArray(list) ? list.filter((one) => typeof one === "object" && one !== null) : [];
  } catch {
    return [];
  }
}

function resourceOf({ url = "", account_sid: sid }: TwilioGateway, { resource }: TwilioOrder) {
  const base = (url || PUBLIC_API).replace(/\/+$/, "");
  return `${base}/2010-04-01/Accounts/${encodeURIComponent(sid)}/${resource}.json`;
}

function loginOf({ account_sid, auth_token, api_key = "", api_secret = "" }: TwilioGateway) {
  const login = api_key && api_secret ? `${api_key}:${api_secret}` : `${account_sid}:${auth_token}`;
  return { Authorization: `Basic ${Buffer.from(login).toString("base64")}` };
}

/** No number, or one whose owner said stop: nothing but another number helps. */
const FOR_GOOD: ReadonlySet<unknown> = new Set([
  21_211, 21_217, 21_401, 21_610, 21_614, 13_223, 13_224,
]);

function judged(answered: Answered): Answered {
  const { verdict, answer } = answered;
  const { code } = answer;
  if (verdict.kind !== "later" || !Number.isInteger(code)) return answered;
  const error = `${verdict.error}: code ${code}`;
  if (FOR_GOOD.has(code)) return { ...answered, verdict: { kind: "never", error } };
  return { ...answered, verdict: { ...verdict, error } };
}

function isSid(sid: unknown): boolean {
  return typeof sid === "string" && /^[A-Z]{2}[0-9a-f]{32}$/.test(sid);
}
