import { threadSource } from "../../ground/kit/assets.ts";
import type { Clock } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { createWorkThread } from "../../ground/kit/thread.ts";
import { type MailText, plainMail } from "../../in/adapters/email/mail.ts";

export interface MailReader {
  /** What a mail says; of one that is too long or too deep, what can be told at once. Throws ServiceError overloaded. */
  read(bytes: Buffer): Promise<MailText>;
  close(): Promise<void>;
}

/** More lines are no text that a person reads, and each costs the reader some time. */
const MOST_LINES = 30_000;
const LIMITS = { deadlineMs: 3000, heapMb: 96, longestQueue: 100 };

/** Reads mails in a thread of its own, which is started with the first and ended when there are none. */
export function createMailReader(clock: Clock): MailReader {
  const source = threadSource("src/web/intake/mail-worker.ts");
  const thread = createWorkThread({ source, clock, ...LIMITS });
  return {
    async read(bytes) {
      const start = firstLines(bytes);
      const heard = await thread.ask(start);
      if ("said" in heard) {
        const mail = heard.said as MailText | null;
        if (mail === null) return plainMail(bytes);
        return { ...mail, is_partial: start.length < bytes.length };
      }
      if (heard.ended === "busy" || heard.ended === "closed")
        throw new ServiceError("overloaded", "Too many mails wait to be read.", { retryAfter: 5 });
      return plainMail(bytes);
    },
    close: () => thread.close(),
  };
}

function firstLines(bytes: Buffer): Buffer {
  let at = 0;
  for (let line = 0; line < MOST_LINES; line++) {
    const end = bytes.indexOf(10, at);
    if (end === -1) return bytes;
    at = end + 1;
  }
  return bytes.subarray(0, at);
}
