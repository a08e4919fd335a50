import { type Adapter, alertCaps, UnreadableBody } from "./adapter.ts";
import { fitted, type Loose } from "./fit.ts";
import { asText, type JsonFields, objectOf, objectsIn } from "./json.ts";
import { ALERT_LEVEL } from "./levels.ts";
import { bodyValue } from "./mapping/body.ts";

/** A message in the format of Slack's incoming webhooks, which Mattermost and several hundred senders use. */
export const slackMessages: Adapter = {
  kind: "slack",
  title: "Senders of Slack messages",
  identity: { title: ["text", "attachments.title"], labels: [], named: "none" },
  room: "source",
  caps: alertCaps,
  decode(request) {
    if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
    const body = bodyValue(request);
    return {
      events: [fitted(eventOf(objectOf(body) ?? { text: "" }), request.watched)],
      rejected: [],
      // Senders check the body.
      answer: () => ({ status: 200, headers: { "content-type": "text/plain" }, body: "ok" }),
    };
  },
  setUp: ({ base, token }) => ({
    where: "the sender, in place of the address of a Slack or Mattermost webhook",
    paste: `${base}/v1/in/slack/${token}`,
    notes: [
      "A message opens an alert, and no message resolves it: set auto_resolve_quiet_minutes in the rule. A red or danger attachment is level 400, an orange or warning one 300.",
      "Most senders try once: what they send while the box is off is lost.",
    ],
  }),
};

/** Attachments, blocks and fields that are read. */
const MOST = 20;

function eventOf(body: JsonFields): Loose {
  const attachments = objectsIn(body["attachments"], MOST);
  const blocks = objectsIn(body["blocks"], MOST)
    .map(blockText)
    .filter((text) => text !== "");
  const [first = {}] = attachments;
  const texts = [
    asText(body["text"]),
    asText(first["title"]),
    asText(first["fallback"]),
    asText(first["text"]),
    ...blocks,
  ];
  const links: Loose["links"] = [];
  const clean = (text: string) => unwrapped(text, links as { href: string; text: string }[]);
  const shown = texts.map(clean).filter((text) => text !== "");
  const [message = ""] = shown;
  const rest = attachments.flatMap((one) => [asText(one["title"]), asText(one["text"])]).map(clean);
  const details = [...new Set([...shown.slice(1), ...rest])].filter((text) => text !== message);
  const titled = asText(first["title_link"]);
  return {
    message,
    level: levelOf(attachments.map((one) => asText(one["color"]))),
    keys: [
      ...fieldPairs(attachments),
      ["channel", asText(body["channel"])] as const,
      ["username", asText(body["username"])] as const,
    ].filter(([, text]) => text !== ""),
    tags: ["slack"],
    details: details.filter((text) => text !== "").join("\n"),
    links: [...(titled === "" ? [] : [{ href: titled, text: "Source" }]), ...links],
    images: attachments.map((one) => ({ src: asText(one["image_url"]) })),
  };
}

function blockText(block: JsonFields): string {
  const text = objectOf(block["text"]);
  return text === null ? "" : asText(text["text"]);
}

function fieldPairs(attachments: readonly JsonFields[]): (readonly [string, string])[] {
  return attachments
    .flatMap((one) => objectsIn(one["fields"], MOST))
    .map((field) => [asText(field["title"]), asText(field["value"])] as const);
}

/** From `danger`, or the hue of a hexadecimal colour. */
function levelOf(colors: readonly string[]): number {
  const levels = colors.map((color) => {
    if (color === "danger") return 400;
    if (color === "warning") return 300;
    if (color === "good") return 200;
    return /^#[0-9a-f]{6}$/i.test(color) ? levelOfColor(Number.parseInt(color.slice(1), 16)) : 0;
  });
  return Math.max(0, ...levels) || ALERT_LEVEL;
}

/** The level of a colour: red 400, orange and yellow 300, any other 200. */
export function levelOfColor(rgb: number): number {
  const [red, green, blue] = [(rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255];
  if (red < 150 || blue > 120 || red < green) return 200;
  return green > 110 ? 300 : 400;
}

/** Slack's `<url|text>` as its text, with the address added to the links; `*bold*` as the word. */
function unwrapped(text: string, links: { href: string; text: string }[]): string {
  return text
    .replace(
      /<(https?:[^<>|\s]{1,2048})(?:\|([^<>|]{0,500}))?>/g,
      (_, href: string, label = "") => {
        links.push({ href, text: label || "Link" });
        return label || href;
      },
    )
    .replace(/(^|\s)\*([^*\n]{1,500})\*/g, "$1$2")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .trim();
}
