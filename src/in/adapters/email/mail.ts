/** The parts of a mail that the box uses. The port makes it from the bytes, and sends it to `decode` as JSON. */
export interface MailText {
  /** Header fields, decoded; empty where missing. */
  from: string;
  to: string;
  subject: string;
  message_id: string;
  date: string;
  x_priority: string;
  importance: string;
  auto_submitted: string;
  /** From the plain part, else from the HTML. */
  text: string;
  /** Parts other than text and images. */
  attachments: number;
  images: number;
  /** The envelope has no sender. */
  is_bounce: boolean;
  /** The mail was too long or too deeply nested to be read whole. */
  is_partial: boolean;
}

/** Characters of the text: more than an event's details hold. */
const MOST_TEXT = 40_000;
const MOST_HEADER = 4000;

export function keptText(text: string): string {
  return text.slice(0, MOST_TEXT);
}

export function keptHeader(text: string): string {
  return text.slice(0, MOST_HEADER);
}

const HEAD = 65_536;

/** Reads a mail line by line: for one that takes too long to parse. */
export function plainMail(bytes: Buffer): MailText {
  const start = bytes.subarray(0, HEAD).toString("utf8");
  const [head = "", ...rest] = start.split(/\r?\n\r?\n/);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const field = (name: string) => {
    const line = lines.find((one) => one.toLowerCase().startsWith(`${name}:`)) ?? "";
    return keptHeader(line.slice(name.length + 1).trim());
  };
  return {
    from: field("from"),
    to: field("to"),
    subject: field("subject"),
    date: field("date"),
    message_id: field("message-id"),
    x_priority: field("x-priority"),
    importance: field("importance"),
    auto_submitted: field("auto-submitted"),
    text: keptText(rest.join("\n\n").trim()),
    attachments: 0,
    images: 0,
    is_bounce: false,
    is_partial: true,
  };
}
