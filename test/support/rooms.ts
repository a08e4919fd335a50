import type { Behaviour, Received } from "./receiver.ts";

/** Chat services as far as a box meets them: what they refuse, and whom a message would call. */
export interface RoomFake {
  /** Where an incoming webhook of this service is, below the server's address. */
  path: string;
  /** Why the service refuses the request; null when it takes it. */
  fault(request: Received): string | null;
  /** Whom the texts would call or link to. */
  calls(body: string): string[];
  /** Its answers when it takes and when it refuses. */
  taken: readonly [status: number, body: string];
  refused(fault: string): readonly [status: number, body: string];
}

/** A service that looks at each request and remembers why it refused some. */
export function roomServer(fake: RoomFake): { behaviour: Behaviour; faults: string[] } {
  const faults: string[] = [];
  const behaviour: Behaviour = (response, _socket, request) => {
    const fault = common(request) ?? fake.fault(request);
    if (fault !== null) faults.push(fault);
    const [status, body] = fault === null ? fake.taken : fake.refused(fault);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };
  return { behaviour, faults };
}

function common({ method, headers, body }: Received): string | null {
  if (method !== "POST") return "method";
  if (headers["content-type"] !== "application/json") return "content type";
  return body.isWellFormed() && Number(headers["content-length"]) === Buffer.byteLength(body)
    ? null
    : "body";
}

const firstOf = (...tests: [broken: boolean, fault: string][]): string | null =>
  tests.find(([broken]) => broken)?.[1] ?? null;

/** Text of Markdown without what stands in fenced blocks. */
const unfenced = (text: string) => text.replace(/^```\n[\s\S]*?^```$/gm, "");
const NAMES = /(?<![\w.:-])@\w+|<[@#!]\S*>|<users\/\S*>/g;

interface Embed {
  title?: string;
  description?: string;
  footer?: { text: string };
  url?: string;
}

/** What Discord takes for an address of an embed: a host of one word is none, nor is a long one. */
const isEmbedUrl = (url: string) =>
  /^https?:\/\/[^/?#:]+\.[^/?#:.]+(:\d+)?([/?#]|$)/.test(url) && url.length < 1_500;

export const discordFake: RoomFake = {
  path: `/api/webhooks/112233445566778899/${"canary-".repeat(9)}token`,
  fault({ path, body }) {
    const { content, embeds, allowed_mentions: allowed } = JSON.parse(body);
    const size = ({ title = "", description = "", footer }: Embed) =>
      title.length + description.length + (footer?.text.length ?? 0);
    return firstOf(
      [!/^\/api\/webhooks\/\d{17,20}\/[\w-]{60,}\?wait=true$/.test(path), "Unknown Webhook"],
      [content === "" && embeds.length === 0, "Cannot send an empty message"],
      [content.length > 2_000, "content"],
      [embeds.length > 10 || embeds.some((one: Embed) => size(one) === 0), "embeds"],
      [embeds.some(({ title = "" }: Embed) => title.length > 256), "embed title"],
      [embeds.some(({ description = "" }: Embed) => description.length > 4_096), "description"],
      [embeds.some(({ footer }: Embed) => (footer?.text.length ?? 0) > 2_048), "footer"],
      [embeds.some(({ url }: Embed) => url !== undefined && !isEmbedUrl(url)), "embed url"],
      [embeds.reduce((sum: number, one: Embed) => sum + size(one), 0) > 6_000, "embeds in all"],
      [JSON.stringify(allowed) !== '{"parse":[]}', "anybody may be called"],
    );
  },
  calls(body) {
    const { content, embeds } = JSON.parse(body);
    const texts = [content, ...embeds.map(({ description = "" }: Embed) => description)];
    return texts.flatMap(
      (text) =>
        unfenced(text)
          .replace(/\\[^\w\s]/g, "")
          .match(NAMES) ?? [],
    );
  },
  taken: [200, '{"id":"1"}'],
  refused: (fault) => [400, JSON.stringify({ code: 50035, message: fault })],
};

export const mattermostFake: RoomFake = {
  path: "/hooks/canary7hookrxs1d5bqk3mwzpy",
  fault({ path, body }) {
    const { text, attachments = [] } = JSON.parse(body);
    return firstOf(
      [!/^\/hooks\/[a-z0-9]{26}$/.test(path), "web.incoming_webhook.invalid.app_error"],
      [text === "" || text.length > 16_383, "web.incoming_webhook.text.length.app_error"],
      [attachments.length > 1, "attachments"],
      [JSON.stringify(attachments).length > 16_383, "attachments"],
    );
  },
  // Its server takes the escapes away before it looks for names, and reads attachments' texts, too.
  calls(body) {
    const { text, attachments = [] } = JSON.parse(body);
    const texts = [text, ...attachments.map((one: { text?: string }) => one.text ?? "")];
    const read = texts.map((one) => unfenced(one).replace(/\\(?=[^\w\s])/g, ""));
    return read.flatMap((one) => one.match(/(?<![\p{L}\p{N}@._:-])@[\w.-]+/gu) ?? []);
  },
  taken: [200, "ok"],
  refused: (fault) => [400, JSON.stringify({ id: fault, message: "canary", status_code: 400 })],
};

export const googleChatFake: RoomFake = {
  path: "/v1/spaces/AAAA/messages?key=canary-key&token=canary-token%3D",
  fault({ path, body }) {
    const { text, cardsV2 = [] } = JSON.parse(body);
    const query = new URL(path, "http://x").searchParams;
    const widgets = cardsV2.flatMap(
      ({ card }: { card: { sections: { widgets: object[] }[] } }) => card.sections[0]?.widgets,
    );
    return firstOf(
      [query.get("token") !== "canary-token=" || query.get("key") !== "canary-key", "PERMISSION"],
      [query.get("messageReplyOption") !== "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD", "thread"],
      [text === "" || text.length > 4_096, "INVALID_ARGUMENT"],
      [Buffer.byteLength(body) > 32_000, "INVALID_ARGUMENT"],
      [cardsV2.length > 0 && widgets.length === 0, "INVALID_ARGUMENT"],
    );
  },
  calls(body) {
    const { text, cardsV2 = [] } = JSON.parse(body);
    const card = (JSON.stringify(cardsV2).match(/"text":"[^"]*"/g) ?? []).join("");
    return [...(text.match(/<users\/\S*>/g) ?? []), ...(card.match(/<(?!br>)/g) ?? [])];
  },
  taken: [200, '{"name":"spaces/AAAA/messages/B"}'],
  refused: (status) => [400, JSON.stringify({ error: { code: 400, message: "canary", status } })],
};

interface Block {
  type: string;
  inlines: { type: string; text: string }[];
}

export const teamsFake: RoomFake = {
  path: "/workflows/0f/triggers/manual/paths/invoke?api-version=2016-06-01&sig=canary",
  fault({ path, body }) {
    const { type, attachments } = JSON.parse(body);
    const [{ contentType, content }] = attachments;
    const runs = content.body.flatMap(({ inlines }: Block) => inlines);
    return firstOf(
      [!path.endsWith("&sig=canary"), "DirectApiAuthorizationRequired"],
      [type !== "message" || attachments.length !== 1, "InvalidRequest"],
      [contentType !== "application/vnd.microsoft.card.adaptive", "InvalidRequest"],
      [content.type !== "AdaptiveCard" || content.version !== "1.4", "InvalidRequest"],
      [content.body.some(({ type }: Block) => type !== "RichTextBlock"), "Markdown is read here"],
      [runs.some(({ text }: { text: string }) => text === ""), "InvalidRequest"],
      [Buffer.byteLength(body) > 28_000, "RequestEntityTooLarge"],
    );
  },
  // Only entities of the card call somebody.
  calls: (body) =>
    JSON.stringify(JSON.parse(body).attachments[0].content).match(/"entities"/g) ?? [],
  taken: [202, ""],
  refused: (code) => [400, JSON.stringify({ error: { code, message: "canary" } })],
};

/** What log lines may hold to call people, to look like the box's own words, or to break a message. */
export const hostileTexts: readonly string[] = [
  "@everyone @here @channel @all @bob <!channel> <!here> <@U123> <@&99> <users/all> <at>all</at>",
  "``` @channel\n```\n@channel **bold** [click](https://evil.test) <https://evil.test|click>",
  "`` ` ```` ~~~ @here",
  "<b>bold</b> <a href='https://evil.test'>x</a> &lt;users/all&gt; {{DATE(1)}} @{body()}",
  "\u202eevil\u202c אבג 1 דהו مرحبا \u2067x\u2069",
  "💥".repeat(20_000),
  "👩‍👩‍👧‍👦 e\u0301".repeat(3_000),
  "x".repeat(65_536),
  "`".repeat(9_000),
  `<${"&".repeat(65_535)}`,
  "line\n".repeat(13_000),
];
