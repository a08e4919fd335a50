import { createHmac } from "node:crypto";
import { sameSecret } from "../../ground/kit/ids.ts";

/** How long a right password opens a report (contract §8). */
const OPEN_SECONDS = 12 * 60 * 60;

/** The report that a cookie opens. When any of these values changes, older cookies no longer work. */
export interface Gate {
  reportId: string;
  uuid: string;
  /** Any text that changes with the password and reveals nothing of it. */
  passwordVersion: string;
}

interface GateKey {
  /** A secret of the server. */
  key: Buffer;
  now: number;
}

interface CookiePlace {
  /** The page's path as the browser sees it. */
  path: string;
  /** Whether the public address is https. */
  secure: boolean;
}

/** The `Set-Cookie` value that opens the report in this browser for twelve hours. */
export function gateCookie(gate: Gate, { key, now }: GateKey, place: CookiePlace): string {
  const expiry = now + OPEN_SECONDS;
  return [
    `${cookieName(place.secure)}=${expiry}.${seal(gate, key, expiry)}`,
    `Path=${place.path}`,
    `Max-Age=${OPEN_SECONDS}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(place.secure ? ["Secure"] : []),
  ].join("; ");
}

/** Whether a request's `Cookie` header opens the report now. The time that this takes depends on no secret. */
export function opensGate(
  cookies: string | undefined,
  gate: Gate,
  { key, now, secure }: GateKey & { secure: boolean },
): boolean {
  return cookieValues(cookies ?? "", cookieName(secure)).some((value) => {
    const [, expiry = "", mac = ""] = /^(\d{1,12})\.([\w-]{43})$/.exec(value) ?? [];
    return Number(expiry) > now && sameSecret(mac, seal(gate, key, Number(expiry)));
  });
}

/** With the prefix, browsers refuse a cookie that came without TLS (RFC 6265bis §4.1.3.1). */
function cookieName(secure: boolean): string {
  return secure ? "__Secure-report" : "report";
}

/** Reads at most a few, because a header may hold hundreds. */
function cookieValues(header: string, name: string): string[] {
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .slice(0, 4)
    .map((pair) => pair.slice(name.length + 1));
}

function seal({ reportId, uuid, passwordVersion }: Gate, key: Buffer, expiry: number): string {
  // JSON keeps the parts apart, whatever characters they contain.
  const text = JSON.stringify(["report-gate", reportId, uuid, passwordVersion, expiry]);
  return createHmac("sha256", key).update(text).digest("base64url");
}
