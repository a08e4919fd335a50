import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../kit/clock.ts";

const RENEW_AFTER_MS = 45 * 60_000;
const NEVER_BEFORE_MS = 20 * 60_000;

export interface ProviderToken {
  /** The JWT to send now; the same one for up to 45 minutes. */
  current(): string;
  /**
   * APNs called `jwt` expired. True where a newer one is (now) at hand; false where the present one
   * is younger than 20 minutes, because APNs refuses those who renew more often.
   */
  refused(jwt: string): boolean;
}

/** Reads a .p8 file's text (PKCS #8 PEM, EC P-256); null for anything else. */
export function readApnsKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    const curve = key.asymmetricKeyDetails?.namedCurve;
    return key.asymmetricKeyType === "ec" && curve === "prime256v1" ? key : null;
  } catch {
    return null;
  }
}

/**
 * The provider token of token-based APNs connections: an ES256 JWT that must be renewed no more
 * than once in 20 minutes and no less than once an hour.
 */
export function providerToken(options: {
  key: KeyObject;
  keyId: string;
  teamId: string;
  clock: Clock;
}): ProviderToken {
  const { clock } = options;
  const make = () => ({ jwt: signedToken(options), mono: clock.mono(), wall: clock.now() });
  let made = make();
  // A suspended machine's monotonic clock stands still and a wall clock may be set back, so the
  // older of the two ages counts.
  const age = () => Math.max(clock.mono() - made.mono, clock.now() - made.wall);

  return {
    current() {
      if (age() >= RENEW_AFTER_MS) made = make();
      return made.jwt;
    },
    refused(jwt) {
      if (jwt !== made.jwt) return true;
      if (age() < NEVER_BEFORE_MS) return false;
      made = make();
      return true;
    },
  };
}

function signedToken(options: {
  key: KeyObject;
  keyId: string;
  teamId: string;
  clock: Clock;
}): string {
  const header = part({ alg: "ES256", kid: options.keyId });
  const claims = part({ iss: options.teamId, iat: Math.floor(options.clock.now() / 1000) });
  const signature = sign("sha256", Buffer.from(`${header}.${claims}`), {
    key: options.key,
    dsaEncoding: "ieee-p1363",
  });
  return `${header}.${claims}.${signature.toString("base64url")}`;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
