import { verify, X509Certificate } from "node:crypto";
import type { Ask } from "../../ground/kit/ask.ts";
import type { IngestEvent } from "../ingest/event.ts";
import {
  type Adapter,
  alertCaps,
  type Decoded,
  type InRequest,
  UnreadableBody,
} from "./adapter.ts";
import { fitted } from "./fit.ts";
import { asText, timeOf } from "./json.ts";
import { ALERT_LEVEL } from "./levels.ts";
import { jsonReply } from "./replies.ts";
import { snsEvents } from "./sns/event.ts";
import { readSnsMessage, type SnsMessage, snsAddress } from "./sns/message.ts";

const HOUR = 3600;
/** SNS deletes a subscription that isn't confirmed within three days. */
const TO_CONFIRM = 3 * 86_400;

/** Topics of Amazon SNS over HTTPS: CloudWatch's alarms and whatever else is published there (contract §23). */
export const sns: Adapter = {
  kind: "sns",
  title: "Amazon SNS (CloudWatch alarms)",
  identity: { title: ["AlarmName", "Subject"], labels: ["alarm", "region"], named: "some" },
  room: "source",
  caps: alertCaps,
  believe,
  decode,
  setUp: ({ base, token }) => ({
    where: "the topic in AWS: Create subscription, protocol HTTPS, as the endpoint",
    paste: `${base}/v1/in/sns/${token}`,
    notes: [
      "AWS asks you to confirm the subscription: that comes as an alert with a link. Open it within three days. For topics in the source's option sns_auto_confirm, a list of ARNs, the box confirms by itself.",
      "CloudWatch alarms open and end alerts by their ARN. The box reads other JSON like a webhook, and each text message is an alert. It checks signatures with the certificate of Amazon's host, and has to reach that host.",
      "Without internet access, set sns_verify to false, list the topics in sns_auto_confirm, and confirm each subscription in AWS by hand.",
      "By default a topic tries again for less than a minute. If the box is off for longer, what is sent is lost, unless the subscription's delivery policy or a dead-letter queue keeps it.",
    ],
  }),
};

/** Raw delivery is an option of a confirmed subscription: the body is the message itself, unsigned. */
const isRaw = ({ header }: InRequest) => header("x-amz-sns-rawdelivery") === "true";

const topicsOf = ({ options }: InRequest): readonly string[] => options.sns_auto_confirm ?? [];

/** Checks the signature, and confirms a subscription to an allowed topic. Throws UnreadableBody. */
async function believe(request: InRequest, ask: Ask): Promise<void> {
  if (request.method !== "POST" || isRaw(request)) return;
  const message = readSnsMessage(request.body);
  const isListed = topicsOf(request).includes(message.topic);
  if (request.options.sns_verify === false) {
    if (isListed) return;
    throw new UnreadableBody(
      "Unsigned messages are accepted only from topics in sns_auto_confirm.",
    );
  }
  const at = timeOf(message.fields["Timestamp"]);
  if (at === null || request.at - at > HOUR)
    throw new UnreadableBody("The message is older than an hour.");
  await mustBeSigned(message, ask);
  if (message.type === "SubscriptionConfirmation" && isListed) await confirm(message, ask);
}

/** The only request whose address comes from the message: it goes to SNS, and is for the message's topic. */
async function confirm({ topic, subscribeUrl }: SnsMessage, ask: Ask): Promise<void> {
  const url = snsAddress(subscribeUrl);
  const says = (name: string) => url?.searchParams.get(name);
  if (url === null || says("Action") !== "ConfirmSubscription" || says("TopicArn") !== topic)
    throw new UnreadableBody("SubscribeURL doesn't confirm a subscription to this topic.");
  const told = await ask(url.href);
  if ("text" in told) return;
  const message = `The subscription could not be confirmed: ${told.fault}.`;
  throw new UnreadableBody({ why: "unavailable", message });
}

function decode(request: InRequest): Decoded {
  if (request.path !== "" && request.path !== "/") throw new UnreadableBody({ why: "not_found" });
  if (request.method !== "POST") throw new UnreadableBody({ why: "method", allowed: ["POST"] });
  if (isRaw(request)) {
    const topic = request.header("x-amz-sns-topic-arn") ?? "";
    const text = request.body.toString("utf8");
    const id = request.header("x-amz-sns-message-id") ?? null;
    return taken(snsEvents({ text, subject: "", topic }, request), id);
  }
  const message = readSnsMessage(request.body);
  return taken(eventsOf(message, request), message.id);
}

function taken(events: readonly IngestEvent[], id: string | null): Decoded {
  const ids = events.map(() => id);
  return { events, ids, rejected: [], answer: ({ accepted }) => jsonReply(200, { accepted }) };
}

function eventsOf(message: SnsMessage, request: InRequest): IngestEvent[] {
  switch (message.type) {
    case "Notification":
      return snsEvents(message, request);
    case "SubscriptionConfirmation":
      return [asksToConfirm(message, request)];
    case "UnsubscribeConfirmation":
      return [ended(message, request)];
  }
}

/**
 * A request to confirm opens an alert, so that somebody sees it. The alert expires with the request. If the box has
 * confirmed, the event says so.
 */
function asksToConfirm({ topic, subscribeUrl }: SnsMessage, request: InRequest): IngestEvent {
  const isDone = request.options.sns_verify !== false && topicsOf(request).includes(topic);
  return fitted(
    {
      message: isDone
        ? `The SNS topic ${topic} sends here from now on`
        : `The SNS topic ${topic} asks whether it may send here: open the link to say yes`,
      level: isDone ? 200 : ALERT_LEVEL,
      keys: [["topic", topic]],
      tags: ["sns"],
      links: isDone ? [] : linkTo(subscribeUrl, "Confirm the subscription"),
      named: {
        action: isDone ? "resolve" : "fire",
        dedupKey: nameOf(topic),
        instance: null,
        expiresAt: isDone ? null : request.at + TO_CONFIRM,
      },
    },
    request.watched,
  );
}

/** After this, alarms of the topic page nobody: somebody should know. */
function ended({ topic, subscribeUrl }: SnsMessage, { watched }: InRequest): IngestEvent {
  return fitted(
    {
      message: `The SNS topic ${topic} sends here no longer: its subscription was ended`,
      level: ALERT_LEVEL,
      keys: [["topic", topic]],
      tags: ["sns"],
      links: linkTo(subscribeUrl, "Take the subscription up again"),
      named: { action: "fire", dedupKey: nameOf(topic), instance: null, expiresAt: null },
    },
    watched,
  );
}

const nameOf = (topic: string) => `sns-subscription:${topic}`;

function linkTo(url: string, text: string) {
  const address = snsAddress(url);
  return address === null ? [] : [{ href: address.href, text }];
}

const DAY = 86_400;
const DIGESTS: Readonly<Record<string, string>> = { "1": "RSA-SHA1", "2": "RSA-SHA256" };
const NOTIFICATION = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
const CONTROL = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/**
 * Checks that the message is signed with the key of a certificate from SNS. Certificates are cached for a day. Their
 * dates aren't checked: their address proves their owner, and this machine's clock may be wrong. Throws UnreadableBody,
 * for a bad signature and for a certificate that can't be fetched.
 */
async function mustBeSigned({ type, fields }: SnsMessage, ask: Ask): Promise<void> {
  const version = asText(fields["SignatureVersion"]);
  const digest = Object.hasOwn(DIGESTS, version) ? DIGESTS[version] : undefined;
  const given = fields["Signature"];
  const url = snsAddress(fields["SigningCertURL"]);
  if (digest === undefined || typeof given !== "string")
    throw new UnreadableBody("The message has no signature of version 1 or 2.");
  if (url === null || !url.pathname.endsWith(".pem"))
    throw new UnreadableBody("SigningCertURL is no address of an SNS certificate.");
  const names = type === "Notification" ? NOTIFICATION : CONTROL;
  const signed = names
    .filter((name) => fields[name] !== undefined && fields[name] !== null)
    .map((name) => `${name}\n${asText(fields[name])}\n`)
    .join("");
  const told = await ask(url.href, { keepSeconds: DAY });
  if ("fault" in told)
    throw new UnreadableBody({
      why: "unavailable",
      message: `The certificate that SNS signs with could not be fetched: ${told.fault}.`,
    });
  if (!isSigned(told.text, { digest, signed, signature: Buffer.from(given, "base64") }))
    throw new UnreadableBody("The signature is not that of the certificate at SigningCertURL.");
}

function isSigned(
  pem: string,
  { digest, signed, signature }: { digest: string; signed: string; signature: Buffer },
): boolean {
  try {
    return verify(digest, Buffer.from(signed), new X509Certificate(pem).publicKey, signature);
  } catch {
    return false;
  }
}
