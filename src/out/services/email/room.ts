import * as z from "zod";
import type { Sent } from "../../outbox/destination.ts";
import type { EventBody } from "../../outbox/event.ts";
import {
  asLine,
  type Message,
  stateInTitle,
  subjectOf,
  titleInEvent,
} from "../../outbox/message.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { addressesOf, messageColourOf } from "../texts.ts";
import { handOver, type MailGateway, mailbox, mailServer, portOf } from "./api.ts";
import { composeMail } from "./mail.ts";
import { mailPage } from "./page.ts";

export const email = channel({
  kind: "email",
  about: "an e-mail address, by an SMTP server",
  isChat: true,
  fields: z.strictObject({
    ...mailServer.fields.shape,
    to: mailbox("whose mailbox it goes to"),
  }),
  hosts: mailServer.hosts,
  sent: mailServer.sent,
  flags: {
    to: "<to>",
    from: "--from <address>",
    host: "--host <host>",
    port: "--port <port>",
    tls: "--tls <how>",
    user: "--user <user>",
    password: "--password <password>",
  },
  shown: ({ host, port, tls }) => `smtp://${host}:${portOf({ port, tls })}`,
  send: sendEmail,
});

/** Hands the event to the server. */
export function sendEmail(attempt: WordsAttempt<MailGateway & { to: string }>): Promise<Sent> {
  const { credentials, event, words, now } = attempt;
  return handOver(attempt, credentials, {
    to: credentials.to,
    write: (ends) => mailOf({ ...ends, event, words, now }),
  });
}

/** What a mail is made of. */
interface MailParts {
  from: string;
  to: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
  /** When it is written, in Unix milliseconds. */
  now: number;
}

/** The event as a mail, in the thread of its alert. */
export function mailOf({ from, to, event, words, now }: MailParts): Promise<Buffer> {
  const { tenant_id: tenant, alert_id: alert, level } = event;
  const isOver = event.event === "alert.resolved" || event.event === "alert.acknowledged";
  return composeMail({
    from,
    to,
    now,
    tenant,
    id: event.event_id,
    alert: alert === "" ? null : alert,
    subject: subjectOf(words.title, level),
    text: textOf(words),
    html: htmlOf(event, words),
    isUrgent: level >= 500 && !isOver,
  });
}

function textOf({ details, people, facts, link, links }: Message): string {
  const parts = [...details, people.join("\n"), facts, link, links.map(asLine).join("\n")];
  return parts.filter(Boolean).join("\n\n");
}

function htmlOf(event: EventBody, words: Message): string {
  const { details, people, facts } = words;
  const [lead = "", ...rest] = people;
  const title = titleInEvent(event);
  return mailPage({
    colour: messageColourOf(event),
    state: title === "" ? "" : `${event.drill ? "DRILL · " : ""}${stateInTitle(event)}`,
    place: [event.project, event.alert_id && `#${event.alert_id}`].filter(Boolean).join(" · "),
    title: title || words.title,
    lead,
    lines: [...details, ...rest],
    facts,
    acknowledge: null,
    links: addressesOf(words),
  });
}
