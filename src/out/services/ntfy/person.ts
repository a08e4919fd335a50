import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { base62Secret } from "../../../ground/kit/ids.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { type DirectMessage, loudnessOfDirect, withRef } from "../direct-message.ts";
import { lookAt, under } from "../post.ts";
import { ntfyAnswerActions, ntfyButton } from "./answers.ts";
import {
  NTFY_SERVER,
  type NtfyMessage,
  ntfyLogin,
  ntfyPriorities,
  ntfyRefusal,
  ntfyWords,
  publish,
} from "./api.ts";

const ntfyGateway = gatewayKind({
  kind: "ntfy",
  about: "an ntfy server; without one the public server is used",
  fields: z.strictObject({
    url: text(2048)
      .optional()
      .meta({ description: `the server, ${NTFY_SERVER} if left out` }),
    access_token: text(256).optional().meta({ description: "its access token, where it asks" }),
    answers: text(64)
      .optional()
      .meta({ description: "topic to which presses of buttons are sent; the box generates one" }),
  }),
  mint: (random) => ({ answers: `box-${base62Secret(random, 32)}` }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["access_token"] },
  open: ["url"],
  refuses: ntfyRefusal,
  prove: ({ gateway: { url = "", access_token: token = "" }, egress, now }) =>
    lookAt(
      { egress, now },
      {
        url: under(url || NTFY_SERVER, "/v1/account"),
        headers: ntfyLogin(token),
        // Without a token too it says who asks: `*`.
        isYes: ({ username }) => typeof username === "string",
      },
    ),
});

type Gateway = z.output<typeof ntfyGateway.fields>;

export const ntfyContact = contactKind({
  kind: "ntfy",
  about: "a phone with the ntfy app, by its topic",
  gateway: ntfyGateway,
  gatewayOptional: true,
  fields: z.strictObject({
    address: text(64, 1)
      .regex(/^[-_A-Za-z0-9]+$/, { error: "must have only letters, digits, - and _" })
      .meta({ description: "the topic; on a public server anybody who knows it can read it" }),
  }),
  notes: true,
  async send({ gateway, fields, message, egress, now }) {
    const { url: server, access_token } = gateway;
    const notification = { topic: fields.address, ...ntfyBody(message, gateway) };
    const posted = await publish({ egress, now }, { server, access_token }, notification);
    return withRef(posted, posted.answer["id"]);
  },
});

/** The notification, with a button where the phone can reach the box. */
function ntfyBody(message: DirectMessage, gateway: Gateway): NtfyMessage {
  const { title, lines, link, ack, purpose } = message;
  return {
    ...ntfyWords(title, lines.filter(Boolean).join("\n")),
    priority: ntfyPriorities[loudnessOfDirect(message)],
    tags: [purpose === "note" ? "eyes" : purpose === "page" ? "rotating_light" : "wave"],
    ...(link === null ? {} : { click: link }),
    ...(ack === null ? {} : { actions: actionsOf(ack, gateway) }),
  };
}

/**
 * Buttons: by a second topic that the box reads, which works from anywhere; else the phone itself posts to the box. The
 * page behind the last one does the same by hand.
 */
function actionsOf(
  { url, handle }: NonNullable<DirectMessage["ack"]>,
  { url: server, answers }: Gateway,
): object[] {
  const look = url === null ? [] : [{ action: "view", label: "Look", url }];
  if (answers) return [...ntfyAnswerActions({ url: server, topic: answers }, handle), ...look];
  if (url === null) return [];
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const act = (label: string, verb: string) =>
    ntfyButton(label, { url, headers, body: `verb=${verb}` });
  return [act("Acknowledge", "acknowledge"), act("Resolve", "resolve"), ...look];
}
