import type { EventBody } from "../../outbox/event.ts";
import type { Link } from "../../outbox/event-names.ts";
import type { Message } from "../../outbox/message.ts";
import { objectIn, withQuery } from "../post.ts";
import { addressesOf, escapeWithin } from "../texts.ts";
import { webhookRoom } from "../webhook-room.ts";

export const googleChat = webhookRoom({
  kind: "google_chat",
  about: "a Google Chat webhook",
  message: googleChatMessage,
  why: ({ error }) => objectIn(error)["status"],
  // What is told of one alert stands in one thread.
  at: (url) => withQuery(url, "messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD"),
});

const PARAGRAPH = 4_000;

/** The title as text, which phones show; the rest is a card, whose texts are HTML. */
export function googleChatMessage(event: EventBody, words: Message): object {
  const { title, facts, details, people } = words;
  const buttons = addressesOf(words);
  const widgets = [
    ...[details.join("\n"), people.join("\n"), facts].filter(Boolean).map(paragraph),
    ...(buttons.length === 0 ? [] : [{ buttonList: { buttons: buttons.map(button) } }]),
  ];
  return {
    // A text has no escapes: `<users/all>` in it would call everybody.
    text: title.replaceAll("<", "<\u200b"),
    ...(event.alert_id !== "" && {
      thread: { threadKey: `box-${event.tenant_id}-${event.alert_id}` },
    }),
    ...(widgets.length > 0 && {
      cardsV2: [{ cardId: "alert", card: { sections: [{ widgets }] } }],
    }),
  };
}

function paragraph(plain: string): object {
  return { textParagraph: { text: escapeWithin(plain, PARAGRAPH).replaceAll("\n", "<br>") } };
}

/** A button's text isn't escaped: it has no brackets. Nor has an address. */
function button({ text, href }: Link): object {
  const url = href.replace(/[<>]/g, encodeURIComponent);
  return { text: text.replaceAll("<", "‹").replaceAll(">", "›"), onClick: { openLink: { url } } };
}
