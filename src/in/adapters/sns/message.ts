import { UnreadableBody } from "../adapter.ts";
import { asText, type JsonFields, jsonBody, objectOf } from "../json.ts";

const TYPES = ["Notification", "SubscriptionConfirmation", "UnsubscribeConfirmation"] as const;
/** Texts that every message has, on one line each but the first. */
const REQUIRED = ["Message", "MessageId", "TopicArn", "Timestamp"] as const;

/** It has a dozen, and ten attributes of a message with three each. */
const MOST_VALUES = 1000;

/** What a topic of Amazon SNS sends. */
export interface SnsMessage {
  type: (typeof TYPES)[number];
  id: string;
  topic: string;
  text: string;
  subject: string;
  /** Where the subscription is confirmed or taken up again; empty in a notification. */
  subscribeUrl: string;
  /** All of it, as it was signed. */
  fields: JsonFields;
}

/** Reads the envelope, whatever its Content-Type says. Throws UnreadableBody. */
export function readSnsMessage(body: Buffer): SnsMessage {
  const fields = objectOf(jsonBody(body, MOST_VALUES)) ?? {};
  const type = TYPES.find((name) => name === fields["Type"]);
  const missing = REQUIRED.find((name) => typeof fields[name] !== "string");
  const isCut = REQUIRED.slice(1).some((name) => /[\r\n]/.test(asText(fields[name])));
  if (type === undefined || missing !== undefined || isCut)
    throw new UnreadableBody({
      why: "bad_request",
      message: `This is no message of an SNS topic: ${missing ?? "Type"} is missing or unknown.`,
    });
  const text = (name: string) => asText(fields[name]);
  return {
    type,
    id: text("MessageId"),
    topic: text("TopicArn"),
    text: text("Message"),
    subject: text("Subject").trim(),
    subscribeUrl: text("SubscribeURL"),
    fields,
  };
}

/**
 * An address of SNS itself, over https: the only host that certificates are fetched from and subscriptions confirmed
 * at. Null for any other.
 */
export function snsAddress(text: unknown): URL | null {
  const url = typeof text === "string" && text.length <= 2048 ? URL.parse(text) : null;
  if (url?.protocol !== "https:" || url.port !== "" || url.username + url.password !== "")
    return null;
  return /^sns\.[a-z0-9-]{3,}\.amazonaws\.com(?:\.cn)?$/.test(url.hostname) ? url : null;
}
