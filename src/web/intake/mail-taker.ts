import { type Source, shortToken } from "../../core/projects/sources.ts";
import { mayCome } from "../../ground/kit/addresses.ts";
import { threadSource } from "../../ground/kit/assets.ts";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { uuid4 } from "../../ground/kit/ids.ts";
import { createWorkThread } from "../../ground/kit/thread.ts";
import { type MailText, plainMail } from "../../in/adapters/email/mail.ts";
import { incomingMail } from "../../in/adapters/email.ts";
import { commitDecoded } from "../../tenant/commit.ts";
import type { Port, PortOutcome } from "./port.ts";
import { createFinder, type IntakeDeps, noneYet } from "./taker.ts";

/** A mail as it was handed over, and for whom. */
interface HandedMail {
  bytes: Buffer;
  /** Keys of its recipients and of its sender's login; null is whom the port is bound to. */
  tokens: readonly (string | null)[];
  /** Its envelope has no sender. */
  isBounce: boolean;
}

/** What became of it: on the disk, or why not and whether to try again. */
export type MailOutcome = "taken" | "later" | "nobody" | "failed";

/** Everything behind a mail port's connections. */
export type MailTaker = ReturnType<typeof createMailTaker>;

export function createMailTaker(port: Port, deps: IntakeDeps) {
  const { tenant, clock, allowFrom, spend, guess } = deps;
  const outcomes = noneYet();
  const finder = createFinder(port, incomingMail.kind, deps);
  // Who hands a mail over is seldom who wrote it.
  const find = (token: string | null) => finder(token, { address: "", certificate: null });
  const reader = createMailReader(clock);

  const commit = async (source: Source, body: Buffer) => {
    spend(1);
    const decoded = incomingMail.decode({
      method: "POST",
      path: "",
      query: new URLSearchParams(),
      header: () => undefined,
      body,
      at: unixSeconds(clock),
      options: source.options,
      watched: () => tenant.ingest.watched(source.projectId),
      unique: () => uuid4(tenant.store.random),
    });
    await commitDecoded({ tenant, source }, decoded, body.subarray(0, 4096).toString("utf8"));
  };

  const deliver = async ({ bytes, tokens, isBounce }: HandedMail): Promise<MailOutcome> => {
    const mail = { ...(await reader.read(bytes)), is_bounce: isBounce };
    const sources = tokens.map((token) => find(token)).filter((source) => source !== null);
    if (sources.length === 0) return "nobody";
    const body = Buffer.from(withoutKeys(JSON.stringify(mail), tokens));
    // Whose part is committed when another's is refused takes the same mail once when it is sent again.
    for (const source of new Map(sources.map((one) => [one.id, one])).values())
      await commit(source, body);
    return "taken";
  };

  return {
    mayComeFrom: (address: string) => mayCome(address, allowFrom),
    count: (outcome: PortOutcome) => void outcomes[outcome]++,
    /** Whose a key is; null asks whom the port is bound to. The same work for a key that there is and one there isn't. */
    find,
    /** Counts a wrong key of this address. Throws ServiceError of status 429 where those are too many. */
    guess,
    async deliver(mail: HandedMail): Promise<MailOutcome> {
      try {
        const fate = await deliver(mail);
        outcomes[fate === "taken" ? "taken" : "no_source"]++;
        return fate;
      } catch (error) {
        const isFull = error instanceof ServiceError && [429, 503].includes(error.status);
        outcomes[isFull ? "overloaded" : "failed"]++;
        if (!isFull) tenant.log.error({ err: error, port: port.name }, "a mail could not be taken");
        return isFull ? "later" : "failed";
      }
    },
    stop: () => void reader.close(),
    counts: { port: port.name, outcomes },
  };
}

const KEYS = /[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}/gi;

/** The text with its recipients' keys taken out: To, and often more of a mail, says them. */
function withoutKeys(text: string, tokens: readonly (string | null)[]): string {
  const given = tokens.filter((token) => token !== null);
  const short = new Set(given.map(shortToken));
  const plain = text.replace(KEYS, (key) => (short.has(shortToken(key)) ? "***" : key));
  return given.reduce((rest, token) => rest.replaceAll(token, "***"), plain);
}

/** More lines are no text that a person reads, and each costs the reader some time. */
const MOST_LINES = 30_000;
/** Whoever hands a mail over hears of it long before the connection is cut off. */
const LIMITS = { deadlineMs: 3000, heapMb: 96, longestQueue: 100, longestWaitMs: 120_000 };

/** Reads mails in a thread of its own, which is started with the first and ended when there are none. */
export function createMailReader(clock: Clock) {
  const source = threadSource("src/web/intake/mail-worker.ts");
  const thread = createWorkThread({ source, clock, ...LIMITS });
  return {
    /** What a mail says; of one that is too long or too deep, what can be told at once. Throws ServiceError overloaded. */
    async read(bytes: Buffer): Promise<MailText> {
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
