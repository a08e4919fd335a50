import { isUtf8 } from "node:buffer";
import PostalMime, { type Address } from "postal-mime";
import { htmlText } from "../mapping/html.ts";
import { keptHeader, keptText, type MailText } from "./mail.ts";

/** HTML that is searched for text; an alert's message isn't further back. */
const MOST_HTML = 512 * 1024;

const BOUNDS = { maxHeadersSize: 256 * 1024, maxNestingDepth: 64, maxRfc822NestingDepth: 2 };

/** Parses a mail. Rejects where it is nested too deeply or its header is too long; may take long for hostile mails. */
export async function readMime(bytes: Uint8Array): Promise<MailText> {
  const mail = await PostalMime.parse(legible(Buffer.from(bytes)), BOUNDS);
  const header = (name: string) =>
    keptHeader(mail.headers.find(({ key }) => key === name)?.value ?? "");
  const text = mail.text?.trim() ? mail.text : htmlText((mail.html ?? "").slice(0, MOST_HTML));
  const images = mail.attachments.filter(({ mimeType }) => mimeType.startsWith("image/")).length;
  return {
    from: keptHeader(written(mail.from === undefined ? [] : [mail.from])),
    to: keptHeader(written(mail.to ?? [])),
    subject: keptHeader(mail.subject ?? "").trim(),
    date: header("date"),
    message_id: header("message-id"),
    x_priority: header("x-priority"),
    importance: header("importance"),
    auto_submitted: header("auto-submitted"),
    text: keptText(text.trim()),
    attachments: mail.attachments.length - images,
    images,
    is_bounce: false,
    is_partial: false,
  };
}

/** A mail whose first line is one of these fields begins with a header. */
const FIELD =
  /^(subject|from|to|cc|date|sender|received|return-path|reply-to|message-id|mime-version|importance|auto-submitted|content-[a-z-]+|x-[a-z-]+)[ \t]*:/im;
const ASCII = /(charset\s*=\s*"?)(us-ascii|ansi_x3\.4-1968|ascii)(?![\w.-])/gi;

/**
 * The mail with what many senders leave out: a charset, where they write Latin-1 or UTF-8 without naming it, or name
 * ASCII as cron does; and the header, where everything is text.
 */
function legible(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1");
  const end = /\r?\n\r?\n/.exec(text)?.index ?? text.length;
  if (!FIELD.test(text.slice(0, end))) return Buffer.concat([Buffer.from("\r\n"), inUtf8(bytes)]);
  if (isUtf8(bytes))
    return isAscii(text) ? bytes : Buffer.from(text.replace(ASCII, "$1utf-8"), "latin1");
  const [head, body] = [bytes.subarray(0, end), bytes.subarray(end)];
  return Buffer.concat([inUtf8(head), /charset\s*=/i.test(text) ? body : inUtf8(body)]);
}

const isAscii = (text: string): boolean => !/[\x80-\xff]/.test(text);

const inUtf8 = (bytes: Buffer): Buffer =>
  isUtf8(bytes) ? bytes : Buffer.from(new TextDecoder("windows-1252").decode(bytes));

/** In the usual form: `Cron Daemon <root@web-01>`. */
function written(addresses: readonly Address[]): string {
  return addresses
    .slice(0, 50)
    .map(({ name, address }) => {
      if (!address) return name;
      return name && name !== address ? `${name} <${address}>` : address;
    })
    .join(", ");
}
