import { cut } from "../../../ground/kit/text.ts";
import type { Via } from "../../outbox/senders/sent.ts";
import type { DirectMessage, DirectSent } from "../direct-message.ts";
import { orderAtTwilio, type PhoneMessage } from "./api.ts";

/** Sends a text of two segments at most. `ref` is its SID. */
export async function sendSms(
  via: Via,
  /** `takesReplies`: whether answers to the number come in here. */
  request: PhoneMessage & { takesReplies: boolean },
): Promise<DirectSent> {
  const { gateway, to, message, statusUrl, takesReplies, since } = request;
  const { messaging_service_sid: service = "", from = "" } = gateway;
  const text = smsText(message, takesReplies);
  return orderAtTwilio(via, gateway, {
    resource: "Messages",
    form: [
      ["To", to],
      service === "" ? ["From", from] : ["MessagingServiceSid", service],
      ["Body", text],
      ...(statusUrl === null ? [] : ([["StatusCallback", statusUrl]] as const)),
    ],
    // An account on trial puts a sentence before it.
    isIt: ({ body }) => typeof body === "string" && body.endsWith(text),
    since,
  });
}

const MOST_SEGMENTS = 2;

/** The text: how to answer stands whole at its end, and the words before are cut for it. */
export function smsText(message: DirectMessage, takesReplies: boolean): string {
  const { title, lines, link, ack } = message;
  const words = inGsm([title, ...lines].filter(Boolean).join("\n"));
  const reply = ack !== null && takesReplies ? `\nReply: ack ${ack.handle}` : "";
  const address = ack?.url ?? link;
  const both = address === null ? reply : `${reply}\n${address}`;
  // An address that leaves no room for words says less than they do.
  const hasRoom = segmentsOf(cut(words, LEAST_WORDS) + both) <= MOST_SEGMENTS;
  return fitted(words, hasRoom ? both : reply);
}

const LEAST_WORDS = 60;

function fitted(words: string, end: string): string {
  if (segmentsOf(words + end) <= MOST_SEGMENTS) return words + end;
  const chars = [...words];
  let fits = 0;
  let over = chars.length;
  const cutAt = (count: number) => `${chars.slice(0, count).join("")}...${end}`;
  while (over - fits > 1) {
    const middle = (fits + over) >> 1;
    if (segmentsOf(cutAt(middle)) <= MOST_SEGMENTS) fits = middle;
    else over = middle;
  }
  return cutAt(fits);
}

/** The alphabet of texts (3GPP TS 23.038); one character outside makes each of them take 16 bits. */
const BASIC = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ\u00a7¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
/** Written as two. */
const EXTENDED = new Set("\f^{}\\[~]|€");

/** How many texts a text is sent as: no character is parted, which may leave a place at a segment's end. */
export function segmentsOf(text: string): number {
  const chars = [...text];
  const isGsm = chars.every((char) => BASIC.has(char) || EXTENDED.has(char));
  const sizes = chars.map((char) => (isGsm ? (EXTENDED.has(char) ? 2 : 1) : char.length));
  const [alone, joined] = isGsm ? [160, 153] : [70, 67];
  if (sizes.reduce((sum, size) => sum + size, 0) <= alone) return 1;
  let segments = 1;
  let used = 0;
  for (const size of sizes) {
    if (used + size > joined) {
      segments++;
      used = 0;
    }
    used += size;
  }
  return segments;
}

const LIKENESS: Readonly<Record<string, string>> = {
  "·": "-",
  "•": "-",
  "–": "-",
  "—": "-",
  "−": "-",
  "…": "...",
  "\t": " ",
  "`": "'",
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "→": "->",
  "×": "x",
  "\u00a0": " ",
};

/** Signs that the alphabet hasn't, by ones that it has; letters stay what they are. */
function inGsm(text: string): string {
  return text
    .normalize("NFC")
    .replace(/[^\P{Cc}\n\t]/gu, " ")
    .replace(/[·•–—−…\t`‘’“”„→×\u00a0]/g, (char) => LIKENESS[char] ?? char);
}
