import { createHmac } from "node:crypto";
import { sameSecret } from "../../ground/kit/ids.ts";
import type { InRequest } from "./adapter.ts";

/** Whether the body's SHA-256 HMAC in lower-case hex stands in the header, behind `prefix`. In constant time. */
export function isSigned(
  { header, body }: InRequest,
  { secret, name, prefix = "" }: { secret: string; name: string; prefix?: string },
): boolean {
  const right = prefix + createHmac("sha256", secret).update(body).digest("hex");
  return sameSecret(right, header(name) ?? "");
}

/** How far a sender's clock may be off, in seconds. */
const SKEW = 300;

/** The same over `{Unix seconds}:{body}`, where the seconds stand in a header and are about now. */
export function isSignedAt(
  { header, body, at }: InRequest,
  { secret, name, time }: { secret: string; name: string; time: string },
): boolean {
  const said = header(time) ?? "";
  if (!/^\d{1,12}$/.test(said) || Math.abs(Number(said) - at) > SKEW) return false;
  const right = createHmac("sha256", secret).update(`${said}:`).update(body).digest("hex");
  return sameSecret(right, header(name) ?? "");
}
