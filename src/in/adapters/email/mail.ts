/** What a mail says, as far as anybody will want to know: what the port makes of its bytes, and JSON on the way to `decode`. */
export interface MailText {
  /** Its header fields, decoded; empty where there is none. */
  from: string;
  to: string;
  subject: string;
  message_id: string;
  date: string;
  x_priority: string;
  importance: string;
  auto_submitted: string;
  /** Of its plain part, else of its HTML. */
  text: string;
  /** Parts that are no text of it; images are counted apart. */
  attachments: number;
  images: number;
  /** Sent by nobody: the envelope has no sender. */
  is_bounce: boolean;
  /** It was too long or too deep to be read whole. */
  is_partial: boolean;
}

/** Characters of a mail's text that are of use to anybody: more than an event's details hold. */
const MOST_TEXT = 40_000;
const MOST_HEADER = 4000;

export function keptText(text: string): string {
  return text.slice(0, MOST_TEXT);
}

export function keptHeader(text: string): string {
  return text.slice(0, MOST_HEADER);
}

const HEAD = 65_536;

/** The mail as one who knows only lines would read it: for one that takes too long to read rightly. */
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
