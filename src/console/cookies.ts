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

/** The prefix makes browsers refuse one that came without TLS or from a neighbour's host (RFC 6265bis §4.1.3). */
export function sessionCookieName(secure: boolean): string {
  return secure ? "__Host-box" : "box";
}

const MONTHS_6 = 180 * 24 * 3600;

/** `Lax`, since a link from a chat has to open signed in. */
export function sessionCookie(value: string, secure: boolean): string {
  return cookie(sessionCookieName(secure), value, { secure, seconds: MONTHS_6, httpOnly: true });
}

export function noSessionCookie(secure: boolean): string {
  return cookie(sessionCookieName(secure), "", { secure, seconds: 0, httpOnly: true });
}

/** How somebody wants their pages: no secret, and a script may read and write it. */
export function lookCookie(name: string, value: string, secure: boolean): string {
  const written = encodeURIComponent(value);
  return cookie(name, written, { secure, seconds: 2 * MONTHS_6, httpOnly: false });
}

function cookie(
  name: string,
  value: string,
  { secure, seconds, httpOnly }: { secure: boolean; seconds: number; httpOnly: boolean },
): string {
  return [
    `${name}=${value}`,
    "Path=/",
    `Max-Age=${seconds}`,
    ...(httpOnly ? ["HttpOnly"] : []),
    "SameSite=Lax",
    ...(secure ? ["Secure"] : []),
  ].join("; ");
}
