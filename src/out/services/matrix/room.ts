import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { escapeMarkup } from "../../../ground/kit/html.ts";
import type { EventBody } from "../../outbox/event.ts";
import type { Message } from "../../outbox/message.ts";
import type { Posted, Via } from "../../outbox/senders/sent.ts";
import { channel } from "../channel.ts";
import { addressesOf, escapeWithin, loudnessOf, plainWithin } from "../texts.ts";
import { LONGEST_BODY, type MatrixRoom, matrixContent, matrixLink, putMessage } from "./api.ts";

export const matrix = channel({
  kind: "matrix",
  about: "a Matrix room without encryption",
  isRoom: true,
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
  send: ({ credentials, message, event, words, egress, now }) => {
    const { homeserver, access_token: token, room_id: roomId } = credentials;
    const transaction = message.eventId;
    const room = { homeserver, token, roomId };
    return sendMatrix({ egress, now }, { ...room, transaction, event, words });
  },
});

/** One attempt at one room. */
export interface MatrixRequest extends MatrixRoom {
  /** The same for every attempt at one message: the server takes it once. */
  transaction: string;
  event: EventBody;
  /** The same in words. */
  words: Message;
}

/** Sends the event; a repeated attempt makes no second message. */
export async function sendMatrix(via: Via, request: MatrixRequest): Promise<Posted> {
  const { transaction, event, words, ...room } = request;
  const content = matrixMessage(event, words);
  const { answer, ...posted } = await putMessage(via, room, { transaction, content });
  return posted;
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
    isSilent: loudnessOf(event) === "silent",
  });
}
