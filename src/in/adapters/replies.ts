import type { InRefusal, SenderReply } from "./adapter.ts";

export function jsonReply(status: number, value: unknown): SenderReply {
  return { status, body: JSON.stringify(value) };
}

/** A refusal's status, and a sentence for the sender's log. */
export function statusOf(refusal: InRefusal): { status: number; message: string } {
  switch (refusal.why) {
    case "bad_request":
      return { status: 400, message: refusal.message };
    case "unauthorized":
      return { status: 401, message: "The token is missing or not known for this address." };
    case "not_found":
      return { status: 404, message: "There is nothing at this path." };
    case "method":
      return { status: 405, message: `This path takes ${refusal.allowed.join(", ")}.` };
    case "media_type":
      return { status: 415, message: `This path takes ${refusal.taken.join(", ")}.` };
    case "too_large":
      return { status: 413, message: "The body is too large." };
    case "overloaded":
      return { status: 503, message: "Too much at once: try again shortly." };
    case "unavailable":
      return { status: 503, message: refusal.message };
    case "internal":
      return { status: 500, message: "The request could not be taken." };
  }
}

/** Refusals in a sender's own format. */
export const refusedAs =
  (body: (message: string, status: number) => unknown) =>
  (refusal: InRefusal): SenderReply => {
    const { status, message } = statusOf(refusal);
    return jsonReply(status, body(message, status));
  };
