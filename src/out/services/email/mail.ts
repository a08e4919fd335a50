import { domainToASCII } from "node:url";

/** An address as any mail server takes it: its domain in ASCII, whatever letters it is written in. */
export function mailAddress(written: string): string {
  const at = written.lastIndexOf("@") + 1;
  return written.slice(0, at) + (domainToASCII(written.slice(at)) || written.slice(at));
}

/** A mail as it is put together. */
interface MailDraft {
  from: string;
  to: string;
  /** When it is written, in Unix milliseconds. */
  now: number;
  tenant: string;
  /** The same in every attempt at one mail. */
  id: string;
  /** The alert whose thread it is in. */
  alert: string | null;
  subject: string;
  text: string;
  html: string;
  isUrgent: boolean;
}

/**
 * Puts a mail together. All mails of one alert name one message that none of them is, so that mail programs show them
 * together and none of them is taken for another. No program answers it, no list of absences does.
 */
export async function composeMail(draft: MailDraft): Promise<Buffer> {
  const { from, to, now, tenant, id, alert, subject, text, html, isUrgent } = draft;
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const domain = from.slice(from.lastIndexOf("@") + 1);
  const thread = `<alert-${alert}.${tenant}@${domain}>`;
  const mail = new MailComposer({
    from: { name: "box", address: from },
    to: { name: "", address: to },
    subject,
    text,
    html,
    date: new Date(now),
    messageId: `<${id}@${domain}>`,
    ...(alert !== null && { inReplyTo: thread, references: thread }),
    headers: {
      "Auto-Submitted": "auto-generated",
      "X-Auto-Response-Suppress": "All",
      "List-Id": `<${tenant}.box.localhost>`,
      ...(isUrgent && { Importance: "high" }),
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return await new Promise((resolve, reject) =>
    mail.compile().build((error, bytes) => (error ? reject(error) : resolve(bytes as Buffer))),
  );
}
