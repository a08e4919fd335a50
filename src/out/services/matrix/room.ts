import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { escapeMarkup } from "../../../ground/kit/html.ts";
import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import type { Posted } from "../../outbox/senders/sent.ts";
import { channel, type WordsAttempt } from "../channel.ts";
import { addressesOf, escapeWithin, plainWithin, urgencyOf } from "../texts.ts";
import { LONGEST_BODY, matrixContent, matrixLink, putMessage } from "./api.ts";

export const matrix = channel({
  kind: "matrix",
  about: "a Matrix room without encryption",
  isChat: true,
  fields: z.strictObject({
    room_id: text(255)
      .regex(/^(![^\s\p{Cc}]+)?$/u, { error: "must be a room's id, which begins with !" })
      .meta({ description: "the room's id (not its alias); the account must be in the room" }),
    homeserver: text(2048).meta({ description: "the homeserver's address" }),
    access_token: text(512)
      .regex(/^[\x21-\x7e]*$/, { error: "must have only visible ASCII characters" })
      .meta({ description: "an access token of the account that writes" }),
  }),
  addresses: ["homeserver"],
  sent: { where: ["homeserver"], secrets: ["access_token"] },
  flags: {
    room_id: "<room-id>",
    homeserver: "--homeserver <url>",
    access_token: "--access-token <token>",
  },
  shown: ({ homeserver }) => new URL(homeserver).origin,
  send: sendMatrix,
});

/** Sends the event; a repeated attempt makes no second message. */
export function sendMatrix(
  attempt: WordsAttempt<{ homeserver: string; access_token: string; room_id: string }> & {
    message: { eventId: string };
  },
): Promise<Posted> {
  const { credentials, message, event, words } = attempt;
  const { homeserver, access_token: token, room_id: roomId } = credentials;
  return putMessage(
    attempt,
    { homeserver, token, roomId },
    { transaction: message.eventId, content: matrixMessage(event, words) },
  );
}

const DETAILS = 8_000;

export function matrixMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people } = words;
  return matrixContent({
    plain: plainWithin(words, LONGEST_BODY),
    title: escapeMarkup(title),
    logged: escapeWithin(details.join("\n"), DETAILS),
    below: [
      ...[...people, facts].filter(Boolean).map(escapeMarkup),
      ...addressesOf(words).map(({ text, href }) => matrixLink(text, href)),
    ],
    isSilent: urgencyOf(event) === "silent",
  });
}
