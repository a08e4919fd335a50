import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { base62Secret } from "../../../ground/kit/ids.ts";
import { withinBytes } from "../../../ground/kit/text.ts";
import { contactKind, gatewayKind } from "../contact-kind.ts";
import { type DirectMessage, withRef } from "../direct-message.ts";
import { lookAt, under } from "../look.ts";
import { postJson, unlessTaken } from "../room.ts";
import { masked } from "../shown.ts";
import { ntfyAnswerActions } from "./answers.ts";
import { withinNtfy } from "./room.ts";

const PUBLIC_SERVER = "https://ntfy.sh";

export const ntfyGateway = gatewayKind({
  kind: "ntfy",
  about: "an ntfy server; without one the public server is used",
  fields: z.strictObject({
    url: text(2048)
      .optional()
      .meta({ description: `the server, ${PUBLIC_SERVER} if left out` }),
    access_token: text(256).optional().meta({ description: "its access token, where it asks" }),
    answers: text(64).optional().meta({ description: "the topic for answers, made by the box" }),
  }),
  mint: (random) => ({ answers: `box-${base62Secret(random, 32)}` }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["access_token"] },
  open: ["url"],
  // 403: the token may not write there, or somebody else has reserved the topic.
  refuses: /^http 40[13]\b/,
  prove: ({ gateway: { url = "", access_token: token = "" }, egress, now }) =>
    lookAt(
      { egress, now },
      {
        url: under(url || PUBLIC_SERVER, "/v1/account"),
        headers: authorization(token),
        // Without a token too it says who asks: `*`.
        isYes: ({ username }) => typeof username === "string",
      },
    ),
});

const authorization = (token: string): Record<string, string> =>
  token === "" ? {} : { Authorization: `Bearer ${token}` };

/** The longest title and text in bytes; a longer text becomes a file that nobody opens at night. */
const TITLE = 200;
const TEXT = 3_900;

export const ntfyContact = contactKind({
  kind: "ntfy",
  about: "a phone with the ntfy app, by its topic",
  gateway: "ntfy",
  gatewayOptional: true,
  served: ntfyGateway.fields,
  fields: z.strictObject({
    address: text(64, 1)
      .regex(/^[-_A-Za-z0-9]+$/, { error: "must have only letters, digits, - and _" })
      .meta({ description: "the topic; on a public server whoever knows it reads along" }),
  }),
  shown: ({ address }) => masked(address),
  gapMs: 5_000,
  notes: true,
  async send({ gateway, fields, message, egress, now }) {
    const { url = "", access_token: token = "" } = gateway;
    const answered = await postJson({ egress, now }, url || PUBLIC_SERVER, {
      headers: authorization(token),
      body: withinNtfy({ topic: fields.address, ...ntfyBody(message, gateway) }),
      why: ({ error }) => error,
    });
    const taken = unlessTaken(answered, ({ id }) => typeof id === "string");
    return withRef(taken, taken.answer["id"]);
  },
});

/** The notification, with a button where the phone can reach the box. */
export function ntfyBody(
  message: DirectMessage,
  gateway: { url?: string | undefined; answers?: string | undefined },
) {
  const { title, lines, link, ack, purpose, level } = message;
  const whole = lines.filter(Boolean).join("\n");
  return {
    title: withinBytes(title, TITLE),
    message: withinBytes(whole === "" ? title : whole, TEXT),
    priority: purpose === "note" ? 2 : purpose !== "page" ? 3 : level >= 500 ? 5 : 4,
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
  { url: server, answers }: { url?: string | undefined; answers?: string | undefined },
): object[] {
  const look = url === null ? [] : [{ action: "view", label: "Look", url }];
  if (answers) return [...ntfyAnswerActions({ url: server, topic: answers }, handle), ...look];
  const act = (label: string, verb: string) => ({
    action: "http",
    label,
    url,
    method: "POST",
    clear: true,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: `verb=${verb}`,
  });
  return url === null
    ? []
    : [act("Acknowledge", "acknowledge"), act("Resolve", "resolve"), ...look];
}
