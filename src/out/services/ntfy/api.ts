import { withinBytes } from "../../../ground/kit/text.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { type Answered, postJson, unlessTaken } from "../post.ts";
import type { Urgency } from "../texts.ts";

/** Where the topics of whoever names no server are. */
export const NTFY_SERVER = "https://ntfy.sh";

/** The gateway's settings are refused. 403: the token may not write there, or somebody else has reserved the topic. */
export const ntfyRefusal = /^http 40[13]\b/;

/** From 1 to 5. */
export const ntfyPriorities: Readonly<Record<Urgency, number>> = {
  through: 5,
  rings: 4,
  usual: 3,
  silent: 2,
};

/** A longer message becomes a file that nobody opens at night; both in bytes. */
const TITLE = 200;
const MESSAGE = 3_900;
/** What the server reads of a request, with escapes and addresses; it refuses all of a longer one. */
const REQUEST = 8_192;

export interface NtfyServer {
  /** Empty: the public one. */
  server?: string | undefined;
  /** Empty: none. */
  access_token?: string | undefined;
}

export interface NtfyMessage {
  title: string;
  message: string;
  priority: number;
  tags: readonly string[];
  /** Where a tap leads. */
  click?: string;
  actions?: readonly object[];
}

/** Publishes as JSON to the server's root (docs.ntfy.sh, Publish as JSON). `answer.id` is the message's id. */
export async function publish(
  via: Via,
  { server, access_token: token = "" }: NtfyServer,
  message: NtfyMessage & { topic: string },
): Promise<Answered> {
  const answered = await postJson(via, server || NTFY_SERVER, {
    headers: ntfyLogin(token),
    body: withinRequest(message),
    why: ({ error }) => error,
  });
  return unlessTaken(answered, ({ id }) => typeof id === "string");
}

export function ntfyLogin(token: string): Record<string, string> {
  return token === "" ? {} : { Authorization: `Bearer ${token}` };
}

/** A title and a text within the limits. The server says "triggered" of an empty one. */
export function ntfyWords(title: string, text: string): { title: string; message: string } {
  return {
    title: withinBytes(title, TITLE),
    message: withinBytes(text === "" ? title : text, MESSAGE),
  };
}

/** Its message is cut so far that the server reads all of it. */
function withinRequest<B extends { message: string }>(body: B): B {
  const over = Buffer.byteLength(JSON.stringify(body)) - REQUEST;
  if (over <= 0) return body;
  const most = Math.max(1, Buffer.byteLength(body.message) - over);
  return { ...body, message: withinBytes(body.message, most) };
}
