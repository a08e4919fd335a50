import type { IncomingMessage } from "node:http";
import { ServiceError } from "../../ground/kit/errors.ts";
import { tooLarge } from "./read-request.ts";

/**
 * Collects a body as text, counting bytes as they come; nothing is kept past `limit`. `owner` is whose it is. `done`
 * is called at most once, with the text or with why there is none, and never for a client that went away.
 */
export type ReadBody = (
  incoming: IncomingMessage,
  of: { owner: string; limit: number },
  done: (error: unknown, body: string | null) => void,
) => void;

/** What one owner has under way. */
interface Holding {
  bytes: number;
  /** Oldest first. */
  bodies: Set<Body>;
}

/**
 * A reader for many requests, which together hold at most `most` bytes. Where one more would pass that, 429
 * `overloaded` is the answer, before any write: for this request where its owner holds the most, else for the
 * oldest of whoever does. So nobody's stalled bodies refuse another's.
 */
export function createBodyReader(most: number): ReadBody {
  const holdings = new Map<string, Holding>();
  let held = 0;

  const largest = (): Holding | null => {
    let found: Holding | null = null;
    for (const holding of holdings.values())
      if (found === null || holding.bytes > found.bytes) found = holding;
    return found;
  };

  return (incoming, { owner, limit }, done) => {
    if (Number(incoming.headers["content-length"] ?? 0) > limit) {
      done(tooLarge(limit), null);
      return;
    }
    const holding = holdings.get(owner) ?? { bytes: 0, bodies: new Set() };
    const body: Body = new Body(incoming, { limit, done }, (bytes) => {
      held += bytes;
      holding.bytes += bytes;
      while (held > most) {
        const other = largest();
        const theirs = other === null || other === holding ? [body] : [...other.bodies];
        (theirs.find(({ size }) => size > 0) ?? body).refuse(tooManyBodies());
      }
      if (!body.isOver) return;
      holding.bodies.delete(body);
      if (holding.bodies.size === 0) holdings.delete(owner);
    });
    holding.bodies.add(body);
    holdings.set(owner, holding);
  };
}

/** One body that is being read. */
class Body {
  isOver = false;
  readonly #incoming: IncomingMessage;
  readonly #limit: number;
  readonly #done: (error: unknown, body: string | null) => void;
  /** Told of each change of what it holds, in bytes; with the last one it is over. */
  readonly #changed: (bytes: number) => void;
  #chunks: Buffer[] = [];
  #size = 0;

  constructor(
    incoming: IncomingMessage,
    { limit, done }: { limit: number; done: (error: unknown, body: string | null) => void },
    changed: (bytes: number) => void,
  ) {
    this.#incoming = incoming;
    this.#limit = limit;
    this.#done = done;
    this.#changed = changed;
    incoming.on("data", this.#take);
    incoming.on("end", this.#finish);
    incoming.on("close", this.#release);
  }

  /** Bytes that it holds. */
  get size(): number {
    return this.#size;
  }

  refuse(error: ServiceError): void {
    this.#incoming.off("data", this.#take);
    this.#incoming.off("end", this.#finish);
    this.#incoming.resume();
    this.#release();
    this.#done(error, null);
  }

  readonly #take = (chunk: Buffer): void => {
    this.#size += chunk.length;
    this.#chunks.push(chunk);
    this.#changed(chunk.length);
    if (this.#size > this.#limit) this.refuse(tooLarge(this.#limit));
  };

  readonly #finish = (): void => {
    const [first, ...rest] = this.#chunks;
    const whole = rest.length === 0 ? first : Buffer.concat(this.#chunks);
    this.#release();
    this.#done(null, whole === undefined ? "" : whole.toString("utf8"));
  };

  readonly #release = (): void => {
    if (this.isOver) return;
    this.isOver = true;
    const size = this.#size;
    this.#size = 0;
    this.#chunks = [];
    this.#changed(-size);
  };
}

function tooManyBodies(): ServiceError {
  return new ServiceError("overloaded", "Too much is being sent at once: try again shortly.", {
    retryAfter: 1,
  });
}
