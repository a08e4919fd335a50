/** The prefix makes browsers refuse one that came without TLS or from a neighbour's host (RFC 6265bis §4.1.3). */
export function sessionCookieName(secure: boolean): string {
  return secure ? "__Host-box" : "box";
}

/** A session is never longer. */
const LONGEST_SECONDS = 180 * 24 * 3600;

/** `Lax`, since a link from a chat has to open signed in. */
export function sessionCookie(value: string, secure: boolean): string {
  return hostCookie(sessionCookieName(secure), value, {
    secure,
    seconds: LONGEST_SECONDS,
    httpOnly: true,
  });
}

export function noSessionCookie(secure: boolean): string {
  return hostCookie(sessionCookieName(secure), "", { secure, seconds: 0, httpOnly: true });
}

/** A `Set-Cookie` value for the whole host. */
export function hostCookie(
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
