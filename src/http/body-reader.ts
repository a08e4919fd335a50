import type { IncomingMessage } from "node:http";
import { ServiceError } from "../kit/errors.ts";
import { tooLarge } from "./check.ts";

/**
 * Collects a body as text, counting bytes as they come; nothing is kept past `limit`. `done` is called
 * at most once, with the text or with why there is none, and never for a client that went away.
 */
export type ReadBody = (
  incoming: IncomingMessage,
  limit: number,
  done: (error: unknown, body: string | null) => void,
) => void;

/**
 * A reader for many requests, which together hold at most `most` bytes: where one more would pass that,
 * its answer is 429 `overloaded`, before any write.
 */
export function createBodyReader(most: number): ReadBody {
  let held = 0;
  return (incoming, limit, done) => {
    if (Number(incoming.headers["content-length"] ?? 0) > limit) {
      done(tooLarge(limit), null);
      return;
    }
    let first: Buffer | null = null;
    let rest: Buffer[] | null = null;
    let size = 0;
    const release = () => {
      held -= size;
      size = 0;
      first = null;
      rest = null;
    };
    const refuse = (error: ServiceError) => {
      incoming.off("data", take);
      incoming.off("end", finish);
      incoming.resume();
      release();
      done(error, null);
    };
    const take = (chunk: Buffer) => {
      size += chunk.length;
      held += chunk.length;
      if (size > limit) refuse(tooLarge(limit));
      else if (held > most) refuse(tooManyBodies());
      else if (first === null) first = chunk;
      else if (rest === null) rest = [first, chunk];
      else rest.push(chunk);
    };
    const finish = () => {
      const whole = rest === null ? first : Buffer.concat(rest);
      release();
      done(null, whole === null ? "" : whole.toString("utf8"));
    };
    incoming.on("data", take);
    incoming.on("end", finish);
    incoming.on("close", release);
  };
}

function tooManyBodies(): ServiceError {
  return new ServiceError("overloaded", "Too much is being sent at once: try again shortly.", {
    retryAfter: 1,
  });
}
