import { UnreadableBody } from "../adapter.ts";
import { asText, jsonBody, objectOf } from "../json.ts";

const TYPES = ["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"] as const;
/** Fields that every message has; all but the first are one line. */
const REQUIRED = ["Message", "MessageId", "TopicArn", "Timestamp"] as const;

/** A message has a dozen values, and ten attributes with three each. */
const MOST_VALUES = 1000;

/** A message of an Amazon SNS topic. */
export type SnsMessage = ReturnType<typeof readSnsMessage>;

/** Parses the message, whatever its Content-Type. Throws UnreadableBody. */
export function readSnsMessage(body: Buffer) {
  const fields = objectOf(jsonBody(body, MOST_VALUES)) ?? {};
  const type = TYPES.find((name) => name === fields["Type"]);
  const missing = REQUIRED.find((name) => typeof fields[name] !== "string");
  const isCut = REQUIRED.slice(1).some((name) => /[\r\n]/.test(asText(fields[name])));
  if (type === undefined || missing !== undefined || isCut)
    throw new UnreadableBody(
      `This isn't a message of an SNS topic: ${missing ?? "Type"} is missing or unknown.`,
    );
  const text = (name: string) => asText(fields[name]);
  return {
    type,
    id: text("MessageId"),
    topic: text("TopicArn"),
    text: text("Message"),
    subject: text("Subject").trim(),
    /** The address that confirms the subscription; empty in a notification. */
    subscribeUrl: text("SubscribeURL"),
    /** The whole message, as it was signed. */
    fields,
  };
}

/**
 * An https address of SNS itself, the only host from which certificates are fetched and at which subscriptions are
 * confirmed. Null for any other address.
 */
export function snsAddress(text: unknown): URL | null {
  const url = typeof text === "string" && text.length <= 2048 ? URL.parse(text) : null;
  if (url?.protocol !== "https:" || url.port !== "" || url.username + url.password !== "")
    return null;
  return /^sns\.[a-z0-9-]{3,}\.amazonaws\.com(?:\.cn)?$/.test(url.hostname) ? url : null;
}
