import { type Adapter, alertCaps, type InRequest, UnreadableBody } from "./adapter.ts";
import { fitted, type Loose } from "./fit.ts";
import { asText, type JsonFields, objectOf, objectsIn } from "./json.ts";
import { ALERT_LEVEL } from "./levels.ts";
import { bodyValue } from "./mapping/body.ts";
import { jsonReply } from "./replies.ts";
import { levelOfColor, slackMessages } from "./slack.ts";

/** A message in the format of Discord's webhooks. */
export const discordMessages: Adapter = {
  kind: "discord",
  title: "Senders of Discord messages",
  identity: { title: ["content", "embeds.title"], labels: [], named: "none" },
  room: "source",
  caps: alertCaps,
  decode(request) {
    if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
    // Discord's address for messages in Slack's format.
    if (/^\/slack\/?$/.test(request.path)) return slackMessages.decode(request);
    const events = [fitted(eventOf(objectOf(bodyValue(request)) ?? {}), request.watched)];
    return { events, rejected: [], answer: () => answerOf(request) };
  },
  setUp: ({ base, token }) => ({
    where: "the sender, in place of the address of a Discord webhook",
    paste: `${base}/v1/in/discord/${token}`,
    notes: [
      "With /slack at its end the address takes Slack's format, as at Discord.",
      "A message opens an alert, and no message resolves it: set auto_resolve_quiet_minutes in the rule. A red embed is level 400, an orange one 300.",
      "Most senders try once: what they send while the box is off is lost.",
    ],
  }),
};

function answerOf(request: InRequest) {
  return request.query.get("wait") === "true"
    ? jsonReply(200, { id: "1" })
    : { status: 204, body: "" };
}

/** Discord's limits of embeds, and of fields in each. */
const EMBEDS = 10;
const FIELDS = 25;

function eventOf(body: JsonFields): Loose {
  const embeds = objectsIn(body["embeds"], EMBEDS);
  const texts = [
    asText(body["content"]),
    ...embeds.flatMap((embed) => [asText(embed["title"]), asText(embed["description"])]),
  ].filter((text) => text.trim() !== "");
  const [message = "", ...details] = texts;
  const colors = embeds.map(({ color }) => color).filter(Number.isInteger) as number[];
  const fields = embeds.flatMap(({ fields: list }) => objectsIn(list, FIELDS));
  return {
    message: message.trim(),
    level: Math.max(0, ...colors.map(levelOfColor)) || ALERT_LEVEL,
    keys: [
      ...fields.map((field) => [asText(field["name"]), asText(field["value"])] as const),
      ["username", asText(body["username"])] as const,
    ].filter(([, text]) => text !== ""),
    tags: ["discord"],
    details: details.join("\n"),
    links: embeds.map(({ url }) => ({ href: asText(url), text: "Source" })),
    images: embeds.map(({ image }) => ({ src: asText(objectOf(image)?.["url"]) })),
  };
}
