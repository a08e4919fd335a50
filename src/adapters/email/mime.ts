import PostalMime, { type Address } from "postal-mime";
import { htmlText } from "../mapping/html.ts";
import { keptHeader, keptText, type MailText } from "./mail.ts";

/** HTML that is looked at for text: what stands behind is no alert's message. */
const MOST_HTML = 512 * 1024;

const BOUNDS = { maxHeadersSize: 256 * 1024, maxNestingDepth: 64, maxRfc822NestingDepth: 2 };

/** Reads a mail's bytes. Rejects where it is nested too deep or its header is too long; may take long for hostile ones. */
export async function readMime(bytes: Uint8Array): Promise<MailText> {
  const mail = await PostalMime.parse(bytes, BOUNDS);
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
    ...{ attachments: mail.attachments.length - images, images },
    ...{ is_bounce: false, is_partial: false },
  };
}

/** As people write them: `Cron Daemon <root@web-01>`. */
function written(addresses: readonly Address[]): string {
  return addresses
    .slice(0, 50)
    .map(({ name, address }) => {
      if (!address) return name;
      return name && name !== address ? `${name} <${address}>` : address;
    })
    .join(", ");
}
