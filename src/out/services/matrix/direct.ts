import { escapeMarkup } from "../../../ground/kit/html.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import { type DirectMessage, type DirectSent, directText, withRef } from "../direct-message.ts";
import { escapeWithin, shortened } from "../room.ts";
import { matrixContent, putEvent } from "./room.ts";

/** The tenant's account. */
export interface MatrixGateway {
  /** The homeserver; may have a path. */
  url: string;
  access_token: string;
}

/** One attempt at one person. */
export interface MatrixDirect {
  gateway: MatrixGateway;
  /** The id of the room that the person and the account are in, `!abc:example.org`, without encryption. */
  address: string;
  message: DirectMessage;
}

/** Sends a message, once however often it is tried. `ref` is its event's id. */
export async function sendMatrixDirect(via: Via, request: MatrixDirect): Promise<DirectSent> {
  const { message } = request;
  const content = matrixDirectContent(message);
  const posted = await put(via, request, { transaction: message.id, content });
  return withRef(posted, posted.answer["event_id"]);
}

/** Says `message` in place of the one called `ref`. */
export async function editMatrixDirect(
  via: Via,
  request: MatrixDirect,
  ref: string,
): Promise<DirectSent> {
  const { message } = request;
  const content = {
    ...matrixDirectContent(message),
    "m.new_content": matrixDirectContent(message),
    "m.relates_to": { rel_type: "m.replace", event_id: ref },
  };
  const { verdict } = await put(via, request, { transaction: `${message.id}.edit`, content });
  return { verdict };
}

function put(
  via: Via,
  { gateway, address }: MatrixDirect,
  event: { transaction: string; content: object },
) {
  const room = { homeserver: gateway.url, token: gateway.access_token, roomId: address };
  return putEvent(via, room, event);
}

/** In characters: an edit says it twice, and an event has 65,536 bytes at most. */
const PLAIN = 3_000;
const LINES = 3_000;
const TITLE = 300;
const LONGEST_LINK = 2_048;

function matrixDirectContent(message: DirectMessage): object {
  const { title, lines, link, ack, purpose } = message;
  const said = escapeWithin(lines.filter(Boolean).join("\n"), LINES);
  const anchor = (text: string, href: string | null) =>
    href === null || href.length > LONGEST_LINK
      ? []
      : [`<a href="${escapeMarkup(href)}">${text}</a>`];
  const html = [
    `<strong>${escapeWithin(title, TITLE)}</strong>`,
    ...(said === "" ? [] : [`<pre><code>${said}</code></pre>`]),
    ...anchor("Acknowledge", ack?.url ?? null),
    ...anchor("Open", link),
  ].join("<br>");
  const plain = shortened(directText({ ...message, link: ack?.url ?? link }), PLAIN);
  return matrixContent({ plain, html, isSilent: purpose === "note" });
}
