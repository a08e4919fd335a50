import { createHmac } from "node:crypto";
import { sameSecret } from "../../ground/kit/ids.ts";
import type { InRequest } from "./adapter.ts";

/** Whether the header contains `prefix` and the body's HMAC-SHA-256 in lower-case hex. Compares in constant time. */
export function isSigned(
  { header, body }: InRequest,
  { secret, name, prefix = "" }: { secret: string; name: string; prefix?: string },
): boolean {
  const right = prefix + createHmac("sha256", secret).update(body).digest("hex");
  return sameSecret(right, header(name) ?? "");
}

/** Seconds by which a sender's clock may differ. */
const SKEW = 300;

/** The same for `{Unix seconds}:{body}`, where a header holds the seconds and they are about now. */
export function isSignedAt(
  { header, body, at }: InRequest,
  { secret, name, time }: { secret: string; name: string; time: string },
): boolean {
  const said = header(time) ?? "";
  if (!/^\d{1,12}$/.test(said) || Math.abs(Number(said) - at) > SKEW) return false;
  const right = createHmac("sha256", secret).update(`${said}:`).update(body).digest("hex");
  return sameSecret(right, header(name) ?? "");
}
