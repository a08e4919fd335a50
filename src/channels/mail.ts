import { html } from "../kit/html.ts";
import type { EventBody } from "../outbox/event.ts";
import { asLine, type Message } from "../outbox/message.ts";

/** What a mail is made of. */
export interface MailParts {
  from: string;
  to: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
  /** When it is written, in Unix milliseconds. */
  now: number;
}

/**
 * The event as a mail. All mails of one alert name one message that none of them is, so that mail programs show them
 * together and none of them is taken for another.
 */
export async function mailOf({ from, to, event, words, now }: MailParts): Promise<Buffer> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const domain = from.slice(from.lastIndexOf("@") + 1);
  const thread = `<alert-${event.alert_id}.${event.tenant_id}@${domain}>`;
  const mail = new MailComposer({
    from: { name: "box", address: from },
    to: { name: "", address: to },
    subject: words.title,
    messageId: `<${event.event_id}@${domain}>`,
    ...(event.alert_id !== "" && { inReplyTo: thread, references: thread }),
    date: new Date(now),
    headers: headersOf(event),
    text: textOf(words),
    html: page(words),
    ...{ disableFileAccess: true, disableUrlAccess: true },
  });
  return await new Promise((resolve, reject) =>
    mail.compile().build((error, bytes) => (error ? reject(error) : resolve(bytes as Buffer))),
  );
}

/** No program answers it, no list of absences does, and what is critical says so. */
function headersOf({ tenant_id: tenant, event, level }: EventBody): Record<string, string> {
  const isOver = event === "alert.resolved" || event === "alert.acknowledged";
  return {
    "Auto-Submitted": "auto-generated",
    "X-Auto-Response-Suppress": "All",
    "List-Id": `<${tenant}.box.localhost>`,
    ...(level >= 500 && !isOver && { Importance: "high" }),
  };
}

function textOf({ details, people, facts, link, links }: Message): string {
  const parts = [...details, people.join("\n"), facts, link, links.map(asLine).join("\n")];
  return parts.filter(Boolean).join("\n\n");
}

function page({ title, details, people, facts, link, links }: Message): string {
  const [logged = "", ...identifiers] = details;
  const addresses = [...(link === null ? [] : [{ text: "Open", href: link }]), ...links];
  const row = (text: string) => html`<tr><td dir="auto">${text}</td></tr>`;
  return html`<!DOCTYPE html>
<html><body style="font-family: sans-serif">
<p dir="auto"><strong>${title}</strong></p>
<pre dir="auto" style="white-space: pre-wrap">${logged}</pre>
<table>${identifiers.map(row)}</table>
${people.map(
  (sentence) => html`<p dir="auto">${sentence}</p>
`,
)}<p>${facts}</p>
${addresses.map(({ text, href }) => html`<p><a href="${href}">${text}</a></p>`)}
</body></html>
`.markup;
}
