import * as z from "zod";
import { levelName } from "../../../ground/kit/level.ts";
import { cut, inOneLine } from "../../../ground/kit/text.ts";
import type { Link } from "../../outbox/event-names.ts";
import {
  asLine,
  linksToldIn,
  stateInTitle,
  subjectOf,
  titleInEvent,
} from "../../outbox/message.ts";
import { contactKind, type DirectAttempt, gatewayKind, masked } from "../contact-kind.ts";
import { type DirectMessage, type DirectSent, withRef } from "../direct-message.ts";
import { messageColourOf } from "../texts.ts";
import { handOver, type MailGateway, mailbox, mailRefusals, mailServer, proveMail } from "./api.ts";
import { composeMail, mailAddress } from "./mail.ts";
import { type MailCard, mailPage } from "./page.ts";

const emailGateway = gatewayKind({
  kind: "email",
  about: "the SMTP server that mail to people goes through",
  ...mailServer,
  refuses: mailRefusals.settings,
  open: ["host", "port", "tls", "user", "from"],
  prove: ({ gateway, egress, now }) => proveMail({ egress, now }, gateway),
});

export const emailContact = contactKind({
  kind: "email",
  about: "a mailbox",
  gateway: emailGateway,
  fields: z.strictObject({ address: mailbox("whose mailbox it goes to") }),
  shown: ({ address }) => maskedMail(address),
  send: sendEmailDirect,
});

/** Hands a mail to the server; taken is not read. `never` where the server knows no such mailbox. `ref` is the mail's id. */
export async function sendEmailDirect(
  attempt: DirectAttempt<MailGateway> & { tenantId: string },
): Promise<DirectSent> {
  const { gateway, fields, message, now, tenantId: tenant } = attempt;
  const from = mailAddress(gateway.from);
  const sent = await handOver(attempt, gateway, {
    to: fields.address,
    write: (ends) => composeMail({ ...mailDraft(message), ...ends, tenant, now }),
  });
  const { verdict } = sent;
  if (verdict.kind === "later" && mailRefusals.unknown.test(verdict.error))
    return { verdict: { kind: "never", error: verdict.error } };
  return withRef(sent, `<${message.id}@${from.slice(from.lastIndexOf("@") + 1)}>`);
}

/** In characters; some servers refuse longer lines of the head. */
const SUBJECT = 200;

/** What a mail to a person says. */
export function mailDraft(message: DirectMessage) {
  const { id, title, lines, link, ack, purpose, level, events } = message;
  const alerts = new Set(events.map(({ alert_id }) => alert_id));
  const [alert = null] = alerts;
  // An invitation, an ask, a weekly message: what the link leads to is all that there is to do.
  const isAlone = events.length === 0 && !ack?.url;
  const ways = [
    ...(ack?.url ? [{ label: "Acknowledge", url: ack.url }] : []),
    ...(link === null ? [] : [{ label: "Open", url: link }]),
  ];
  return {
    id,
    alert: alerts.size === 1 ? alert : null,
    subject: cut(subjectOf(inOneLine(title), level), SUBJECT),
    text: [...lines, ...ways.map(({ label, url }) => `${label}: ${url}`)]
      .filter(Boolean)
      .join("\n\n"),
    html: mailPage({
      ...headOf(message),
      code: message.code,
      facts: "",
      acknowledge: ack?.url ?? null,
      open: isAlone ? link : null,
      links: [
        ...(link === null || isAlone ? [] : [{ text: "Open", href: link }]),
        ...linksIn(message),
      ],
    }),
    isUrgent: purpose === "page" && level >= 500,
  };
}

/** The runbook, and what the sender sent along: of one alert, and by what was told, not by what a line reads like. */
const linksIn = ({ events, said }: DirectMessage): Link[] =>
  events.length === 1 && said !== null ? linksToldIn(said) : [];

/** What stands above: of one alert its state, project and title, of several how bad the worst is. */
function headOf(
  message: DirectMessage,
): Pick<MailCard, "colour" | "state" | "place" | "title" | "lead" | "lines"> {
  const { title, lines, level, events, said, purpose } = message;
  const [first, second] = events;
  if (first === undefined) return { colour: "plain", state: "", place: "", title, lead: "", lines };
  if (second !== undefined) {
    const colour = purpose === "note" ? "seen" : messageColourOf({ ...first, level });
    const state = purpose === "note" ? "" : levelName(level).toUpperCase();
    return { colour, state, place: "", title, lead: "", lines };
  }
  // What leads a page stands first where anything was told beside the event.
  const isLed = purpose === "page" && said !== null;
  const links = new Set(linksIn(message).map(asLine));
  const [lead = "", ...rest] = lines.filter((line) => !links.has(line));
  return {
    colour: messageColourOf(first),
    state: `${first.drill ? "DRILL · " : ""}${stateInTitle(first)}`,
    place: `${first.project} · #${first.alert_id}`,
    title: titleInEvent(first) || title,
    lead: isLed ? lead : "",
    lines: isLed ? rest : [lead, ...rest],
  };
}

/** What a read may show of a mail address: the last character before the @ where there are others, and the domain. */
export function maskedMail(address: string): string {
  const at = address.lastIndexOf("@");
  return at < 0 ? masked(address) : `…${address.slice(at > 2 ? at - 1 : at)}`;
}
