import { escapeMarkup } from "../../../ground/kit/html.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { type Answered, askedWait, onServer, postJson, refusedFor, unlessTaken } from "../post.ts";
import { shortened } from "../texts.ts";

/** What Matrix's refusals mean; after any other another attempt may get through. */
export const matrixRefusals = {
  /** The account's token is none. */
  account: /M_(UNKNOWN_TOKEN|MISSING_TOKEN|USER_DEACTIVATED)$/,
  /** The account isn't in the room or may not write, its token is none, or the message is none. */
  forGood: new Set<unknown>([
    "M_FORBIDDEN",
    "M_UNKNOWN_TOKEN",
    "M_MISSING_TOKEN",
    "M_USER_DEACTIVATED",
    "M_TOO_LARGE",
    "M_BAD_JSON",
    "M_INVALID_PARAM",
  ]),
};

/** A room, and who writes into it. */
interface MatrixRoom {
  /** May have a path, where the server stands behind a proxy. */
  homeserver: string;
  token: string;
  /** `!abc:example.org`. */
  roomId: string;
}

/**
 * Puts a message into a room (Client-Server API, `PUT …/send`), once for every transaction however often it is tried.
 * `answer.event_id` is its id.
 */
export async function putMessage(
  via: Via,
  { homeserver, token, roomId }: MatrixRoom,
  { transaction, content }: { transaction: string; content: object },
): Promise<Answered> {
  const [room, once] = [roomId, transaction].map(encodeURIComponent);
  const path = `/_matrix/client/v3/rooms/${room}/send/m.room.message/${once}`;
  const answered = await postJson(via, onServer(homeserver, path), {
    method: "PUT",
    headers: { Authorization: `Bearer ${token}` },
    body: content,
    why: ({ errcode }) => errcode,
  });
  const taken = unlessTaken(answered, ({ event_id: id }) => typeof id === "string");
  return withPause(refusedFor(taken, ({ errcode }) => matrixRefusals.forGood.has(errcode)));
}

/** Servers of before 2023 say in the body how long to wait, and in no header. */
function withPause(answered: Answered): Answered {
  const { verdict, answer } = answered;
  const isTold = verdict.kind === "later" && verdict.retryAfterMs !== undefined;
  return isTold ? answered : askedWait(answered, answer["retry_after_ms"], 1);
}

/** In UTF-16 units. An event has 65,536 bytes at most; this is far from it. */
export const LONGEST_BODY = 4_000;

/**
 * A message's content: plain text, and the same as HTML whose parts are escaped already. No name in it calls anybody, and a
 * notice makes no sound.
 */
export function matrixContent(said: {
  plain: string;
  title: string;
  /** What was logged; may be empty. */
  logged: string;
  below: readonly string[];
  isSilent: boolean;
}): object {
  const { plain, title, logged, below, isSilent } = said;
  const block = logged === "" ? [] : [`<pre><code>${logged}</code></pre>`];
  return {
    msgtype: isSilent ? "m.notice" : "m.text",
    body: shortened(plain, LONGEST_BODY),
    format: "org.matrix.custom.html",
    formatted_body: [`<strong>${title}</strong>`, ...block, ...below].join("<br>"),
    "m.mentions": {},
  };
}

export function matrixLink(text: string, href: string): string {
  return `<a href="${escapeMarkup(href)}">${escapeMarkup(text)}</a>`;
}
