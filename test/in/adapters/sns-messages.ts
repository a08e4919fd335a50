import { createSign, type KeyLike } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A made-up certificate of SNS with its RSA key, as Amazon's are. Its path goes by the root of the tree, because the
 * fuzzer's bundle of this file is in another folder of the same depth.
 */
export const signingPem = readFileSync(
  join(import.meta.dirname, "../../fixtures/tls/signing.pem"),
  "utf8",
);

export const HOST = "https://sns.eu-west-1.amazonaws.com";
export const TOPIC = "arn:aws:sns:eu-west-1:123456789012:pages";
export const CERTIFICATE = `${HOST}/SimpleNotificationService-0123.pem`;

export type Fields = Record<string, string | null>;

/** An alarm as CloudWatch publishes it. */
export function alarm(state: string, more: object = {}): string {
  return JSON.stringify({
    AlarmName: "cpu",
    AlarmDescription: "web-1 is busy",
    AWSAccountId: "123456789012",
    NewStateValue: state,
    NewStateReason: "Threshold Crossed",
    Region: "EU (Ireland)",
    StateChangeTime: "2026-01-05T08:59:45.093+0000",
    Trigger: { MetricName: "CPU", Period: 300, Dimensions: [{ name: "Id", value: "i-1" }] },
    ...more,
  });
}

export function notification(text: string, more: Fields = {}): Fields {
  return {
    Type: "Notification",
    MessageId: "e288882d",
    TopicArn: TOPIC,
    Message: text,
    Timestamp: "2026-01-05T09:00:00.134Z",
    SignatureVersion: "2",
    SigningCertURL: CERTIFICATE,
    ...more,
  };
}

export function control(type: string, more: Fields = {}): Fields {
  return notification("You have chosen to subscribe.", {
    Type: type,
    MessageId: type,
    Token: "2336412f",
    SubscribeURL: `${HOST}/?Action=ConfirmSubscription&TopicArn=${TOPIC}&Token=2336412f`,
    ...more,
  });
}

/** Signed with this key as Amazon's documentation says. */
export function signed(fields: Fields, key: KeyLike = signingPem): Fields {
  const isControl = fields["Type"] !== "Notification";
  const names = isControl
    ? ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    : ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
  const sign = createSign(fields["SignatureVersion"] === "1" ? "RSA-SHA1" : "RSA-SHA256");
  for (const name of names)
    if (typeof fields[name] === "string") sign.update(`${name}\n${fields[name]}\n`);
  return { ...fields, Signature: sign.sign(key, "base64") };
}
