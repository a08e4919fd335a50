import { answerPage, answerWords } from "../../core/alerts/answer.ts";
import { hearReceipt } from "../../core/alerts/receipts.ts";
import { sleep, unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { openGateway } from "../../out/contacts/gateways.ts";
import { messageAgain } from "../../out/paging/again.ts";
import { linkBase } from "../../out/paging/capability.ts";
import { isPageRef } from "../../out/paging/receipt.ts";
import { contactOfNumber, pageTexted } from "../../out/paging/texted.ts";
import {
  readSmsReply,
  readTwilioKey,
  readTwilioStatus,
  replyTwiml,
  twilioSignatureOk,
} from "../../out/services/twilio/answers.ts";
import { callTwiml, closingTwiml } from "../../out/services/twilio/voice.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { type RawOperation, rawOperation, textAnswer } from "./raw-operation.ts";
import type { AppContext } from "./raw-route.ts";
import { decodeText, readBytes } from "./read-request.ts";
import type { Serving } from "./serve-route.ts";

/** Everything below this path is what Twilio calls. */
export const TWILIO = "/v1/in/twilio";

const FORM_BYTES = 65_536;

/** `/status`, `/sms` and `/voice/{handle}`, a segment before it where there are many tenants. */
const PLACE =
  /^\/v1\/in\/twilio(?:\/([0-9a-f]{16}-[\w-]{22}))?\/(status|sms|voice\/([0-9A-Za-z]{1,32}))$/;

/** One call back: whose, and what it says. */
interface Called {
  c: AppContext;
  tenant: Tenant;
  form: URLSearchParams;
  /** As Twilio was given it. */
  url: string;
}

/**
 * What Twilio calls back with (contract §27): a message's progress, a key that was pressed, a text. Nothing is believed that
 * isn't signed with the account's token over the very address. What is signed and means nothing is answered in words.
 */
export function createTwilio(serving: Serving): (c: AppContext) => Promise<Response> {
  return async (c) => {
    const [, segment = null, what = "", handle = ""] = PLACE.exec(c.req.path) ?? [];
    if (what === "") throw new ServiceError("not_found", "There is no such route.");
    if (c.req.raw.method !== "POST") {
      c.set("refusedAs", "method_not_allowed");
      return new Response(null, { status: 405, headers: { allow: "POST" } });
    }
    const form = new URLSearchParams(decodeText(await readBytes(c.req.raw, FORM_BYTES)));
    const tenant = await serving.findCalled(segment);
    const url = tenant && signedUrl(c, tenant, form);
    if (tenant === null || url === null) return forged(c, serving);
    serving.known(c);
    c.set("tenant", tenant);
    const called = { c, tenant, form, url };
    if (what === "status") return progressed(called);
    return what === "sms" ? texted(called) : pressed(called, handle);
  };
}

/** The address that it was signed over; null where it wasn't, by this tenant's account. */
function signedUrl(c: AppContext, { store, sealer, publicUrl }: Tenant, form: URLSearchParams) {
  const token = openGateway(store, sealer, "twilio")?.["auth_token"] ?? "";
  const base = linkBase(store, publicUrl);
  if (token === "" || base === null) return null;
  const url = base + c.req.path + new URL(c.req.url).search;
  const header = c.req.header("x-twilio-signature") ?? "";
  return twilioSignatureOk(token, [url], form, header) ? url : null;
}

/** One answer for a stranger, whatever is wrong; it spends of its address alone. */
function forged(c: AppContext, { limits, address }: Serving): Response {
  c.set("refusedAs", "forbidden");
  c.set("rateHeaders", limits.tries.spend(`${address(c)} twilio`));
  return new Response(null, { status: 403, headers: { "cache-control": "no-store" } });
}

/** A message may fail before it is written down that Twilio took it. */
const PATIENCE = { looks: 20, restMs: 250 };

async function progressed({ tenant: { store, clock }, form }: Called): Promise<Response> {
  const progress = readTwilioStatus(form);
  if (progress === null || progress.outcome === "accepted") return nothing();
  const { ref, outcome, detail } = progress;
  for (let left = PATIENCE.looks; left > 0 && !isPageRef(store, ref); left--)
    await sleep(clock, PATIENCE.restMs);
  // A line that is busy or isn't picked up says nothing against the number.
  const isLost = outcome === "failed" && !/^(busy|no-answer|canceled)\b/.test(detail);
  store.write((tx) => hearReceipt(tx, { ref, outcome, detail, isLost }));
  return nothing();
}

async function pressed({ tenant, form, url }: Called, handle: string): Promise<Response> {
  const key = readTwilioKey(form);
  const now = unixSeconds(tenant.clock);
  if (key === null || key === "repeat") {
    const message = messageAgain(tenant.store, now, handle);
    return message === null
      ? twiml(closingTwiml(answerWords({ kind: "unknown" }, now)))
      : twiml(callTwiml(message, url));
  }
  const result = await answerPage(tenant.store, { handle }, { verb: key, spoken: true });
  return twiml(closingTwiml(answerWords(result, now)));
}

const HOW = "Text ack or resolve and an alert's number, like: ack 17";

async function texted({ c, tenant, form }: Called): Promise<Response> {
  const { store, sealer, clock } = tenant;
  const contact = contactOfNumber(store, sealer, form.get("From") ?? "");
  // A stranger is told nothing, and no text is paid for.
  if (contact === null) {
    c.set("refusedAs", "forbidden");
    return twiml(replyTwiml(null));
  }
  if (contact === "several") return say("Several people have this number: open the link instead.");
  const reply = readSmsReply(form);
  if (reply === null) return say(HOW);
  const now = unixSeconds(clock);
  const { which, verb } = reply;
  const page = pageTexted(store, now, { contactId: contact.id, which, verb });
  if (page.kind === "none") return say(`Nothing that this number was told of is that. ${HOW}`);
  if (page.kind === "which") return say(`Which one? ${numbersOf(page.alertIds)}. ${HOW}`);
  const { handle, alertId } = page;
  const answer = { verb, spoken: true as const, ...(alertId !== undefined && { alertId }) };
  return say(answerWords(await answerPage(store, { handle }, answer), now));
}

const MOST_NUMBERS = 5;

function numbersOf(ids: readonly number[]): string {
  const shown = ids.slice(-MOST_NUMBERS).join(", ");
  return ids.length > MOST_NUMBERS ? `${shown} and ${ids.length - MOST_NUMBERS} more` : shown;
}

const say = (words: string): Response => twiml(replyTwiml(words));

/** Twilio reads the answer to a key or a text as markup, and asks none to a status. */
function twiml(markup: string): Response {
  const headers = { "content-type": "text/xml; charset=utf-8", "cache-control": "no-store" };
  return new Response(markup, { status: 200, headers });
}

const nothing = (): Response => new Response(null, { status: 204 });

const common = {
  tag: "Alerts",
  security: [{ twilioSignature: [] }],
  form: { type: "object" },
};
const refused = {
  403: "Not signed with the account's token over this address",
  413: "A form over 64 KiB",
  429: "Too many such calls from the address",
};
const markup = { 200: textAnswer("TwiML", "text/xml") };

/** What Twilio calls, as the OpenAPI document shows it. Where there are many tenants a segment stands before the last part. */
export const twilioOperations: readonly RawOperation[] = [
  rawOperation("POST", `${TWILIO}/status`, {
    ...common,
    name: "hearTwilioStatus",
    summary: "Twilio's report on what became of a text or a call",
    answers: { 204: "Taken, also where it says nothing new", ...refused },
  }),
  rawOperation("POST", `${TWILIO}/sms`, {
    ...common,
    name: "hearTwilioText",
    summary:
      "A text message to the box's number: `ack` or `resolve`, and the alert's number or the short code in the message",
    answers: { ...markup, ...refused },
  }),
  rawOperation("POST", `${TWILIO}/voice/{handle}`, {
    ...common,
    name: "hearTwilioKey",
    summary: "A key that was pressed in a call: 4 acknowledges, 6 resolves, 9 repeats",
    answers: { ...markup, ...refused },
  }),
];
