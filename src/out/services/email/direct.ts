import { html } from "../../../ground/kit/html.ts";
import { cut } from "../../../ground/kit/text.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { type DirectMessage, type DirectSent, withRef } from "../direct-message.ts";
import { composeMail, mailAddress } from "./mail.ts";
import { handOver, type MailGateway } from "./room.ts";

/** One attempt at one person's mailbox. */
export interface EmailDirect {
  gateway: MailGateway;
  address: string;
  message: DirectMessage;
  /** Whose box it is, for the mail's list id. */
  tenant: string;
}

/** Hands a mail to the server; taken is not read. `never` where the server knows no such mailbox. `ref` is the mail's id. */
export async function sendEmailDirect(via: Via, request: EmailDirect): Promise<DirectSent> {
  const { gateway, address, message, tenant } = request;
  const from = mailAddress(gateway.from);
  const sent = await handOver(via, gateway, {
    to: address,
    write: (ends) => composeMail({ ...draftOf(message), ...ends, tenant, now: via.now }),
  });
  const { verdict } = sent;
  // 552 and 554 are also said of a mailbox that is full and of a sender that is too busy.
  const isUnknown =
    verdict.kind === "later" && /^smtp 55[013] .*after RCPT TO$/.test(verdict.error);
  if (isUnknown) return { verdict: { kind: "never", error: verdict.error } };
  return withRef(sent, `<${message.id}@${from.slice(from.lastIndexOf("@") + 1)}>`);
}

/** In characters; some servers refuse longer lines of the head. */
const SUBJECT = 200;

function draftOf(message: DirectMessage) {
  const { id, title, lines, link, ack, purpose, level, events } = message;
  const alerts = new Set(events.map(({ alert_id }) => alert_id));
  const [alert = null] = alerts;
  const ways = [
    ...(ack === null || ack.url === null ? [] : [{ label: "Acknowledge", url: ack.url }]),
    ...(link === null ? [] : [{ label: "Open", url: link }]),
  ];
  return {
    id,
    alert: alerts.size === 1 ? alert : null,
    subject: cut(title.replace(/[\s\p{Cc}]+/gu, " "), SUBJECT),
    text: [...lines, ...ways.map(({ label, url }) => `${label}: ${url}`)]
      .filter(Boolean)
      .join("\n\n"),
    html: html`<!DOCTYPE html>
<html><body style="font-family: sans-serif">
<p dir="auto"><strong>${title}</strong></p>
<pre dir="auto" style="white-space: pre-wrap">${lines.filter(Boolean).join("\n")}</pre>
${ways.map(({ label, url }) => html`<p><a href="${url}">${label}</a></p>`)}
</body></html>
`.markup,
    isUrgent: purpose === "page" && level >= 500,
  };
}
