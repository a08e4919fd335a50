import { hostCookie } from "../http/session-cookie.ts";

/** At most so many are looked at: a header may hold hundreds. */
const MOST = 64;

/** A request's cookies by name; of two of one name the first, as a browser sends the closest path first. */
export function readCookies(header: string | undefined): Record<string, string> {
  const cookies: Record<string, string> = Object.create(null);
  for (const part of (header ?? "").split(";", MOST)) {
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at > 0 && !(name in cookies)) cookies[name] = unescaped(part.slice(at + 1).trim());
  }
  return cookies;
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

const YEAR = 365 * 24 * 3600;

/** How somebody wants their pages: no secret, and a script may read and write it. */
export function lookCookie(name: string, value: string, secure: boolean): string {
  const written = encodeURIComponent(value);
  return hostCookie(name, written, { secure, seconds: YEAR, httpOnly: false });
}
