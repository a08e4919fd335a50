import { verify, X509Certificate } from "node:crypto";
import type { Ask } from "../../../ground/kit/ask.ts";
import { UnreadableBody } from "../adapter.ts";
import { asText } from "../json.ts";
import { type SnsMessage, snsAddress } from "./message.ts";

const DAY = 86_400;
const DIGESTS: Readonly<Record<string, string>> = { "1": "RSA-SHA1", "2": "RSA-SHA256" };
const NOTIFICATION = ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"];
const CONTROL = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/**
 * Checks that the message is signed with the key of a certificate from SNS. Certificates are cached for a day. Their
 * dates aren't checked: their address proves their owner, and this machine's clock may be wrong. Throws UnreadableBody,
 * for a bad signature and for a certificate that can't be fetched.
 */
export async function mustBeSigned({ type, fields }: SnsMessage, ask: Ask): Promise<void> {
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
