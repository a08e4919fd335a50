import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { contactKind, type DirectAttempt, gatewayKind } from "../contact-kind.ts";
import { type DirectMessage, type DirectSent, directText, withRef } from "../direct-message.ts";
import { lookAt, onServer } from "../post.ts";
import { escapeWithin, shortened } from "../texts.ts";
import { matrixContent, matrixLink, matrixRefusals, putMessage } from "./api.ts";

const matrixGateway = gatewayKind({
  kind: "matrix",
  about: "an account on a Matrix server; rooms without encryption only",
  fields: z.strictObject({
    url: text(2048, 1).meta({ description: "the homeserver's address" }),
    access_token: text(1024, 1).meta({ description: "the account's access token" }),
  }),
  addresses: ["url"],
  sent: { where: ["url"], secrets: ["access_token"] },
  refuses: matrixRefusals.account,
  prove: ({ gateway, egress, now }) =>
    lookAt(
      { egress, now },
      {
        url: onServer(gateway.url, "/_matrix/client/v3/account/whoami"),
        headers: { Authorization: `Bearer ${gateway.access_token}` },
        isYes: ({ user_id: id }) => typeof id === "string",
      },
    ),
});

export const matrixContact = contactKind({
  kind: "matrix",
  about: "a room with the box's Matrix account",
  gateway: matrixGateway,
  fields: z.strictObject({
    address: text(255, 1)
      .regex(/^![^\s:]+(:\S+)?$/, { error: "must be a room's id, like !abc:example.org" })
      .meta({ description: "the room's id; invite the box's account into it first" }),
  }),
  notes: true,
  send: sendMatrixDirect,
  edit: editMatrixDirect,
});

type Attempt = DirectAttempt<z.output<typeof matrixGateway.fields>>;

/** Sends a message, once however often it is tried. `ref` is its event's id. */
export async function sendMatrixDirect(attempt: Attempt): Promise<DirectSent> {
  const { message } = attempt;
  const content = matrixDirectContent(message);
  const posted = await put(attempt, { transaction: message.id, content });
  return withRef(posted, posted.answer["event_id"]);
}

/** Says `message` in place of the one called `ref`. */
export async function editMatrixDirect(attempt: Attempt, ref: string): Promise<DirectSent> {
  const { message } = attempt;
  const content = {
    ...matrixDirectContent(message),
    "m.new_content": matrixDirectContent(message),
    "m.relates_to": { rel_type: "m.replace", event_id: ref },
  };
  const { verdict } = await put(attempt, { transaction: `${message.id}.edit`, content });
  return { verdict };
}

function put(attempt: Attempt, message: { transaction: string; content: object }) {
  const { gateway, fields } = attempt;
  const room = { homeserver: gateway.url, token: gateway.access_token, roomId: fields.address };
  return putMessage(attempt, room, message);
}

/** In characters: an edit says it twice, and an event has 65,536 bytes at most. */
const PLAIN = 3_000;
const LINES = 3_000;
const TITLE = 300;
const LONGEST_LINK = 2_048;

function matrixDirectContent(message: DirectMessage): object {
  const { title, lines, link, ack, purpose } = message;
  const anchor = (text: string, href: string | null) =>
    href === null || href.length > LONGEST_LINK ? [] : [matrixLink(text, href)];
  return matrixContent({
    plain: shortened(directText({ ...message, link: ack?.url ?? link }), PLAIN),
    title: escapeWithin(title, TITLE),
    logged: escapeWithin(lines.filter(Boolean).join("\n"), LINES),
    below: [...anchor("Acknowledge", ack?.url ?? null), ...anchor("Open", link)],
    isSilent: purpose === "note",
  });
}
