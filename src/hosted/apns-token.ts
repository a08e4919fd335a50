import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../ground/kit/clock.ts";
import type { Apns } from "./registry/apns-settings.ts";

const RENEW_AFTER_MS = 45 * 60_000;
const NEVER_BEFORE_MS = 20 * 60_000;
/** Past its hour it is refused; until then it serves while no other can be had. */
const LAST_MS = 58 * 60_000;

export interface ProviderToken {
  /**
   * The JWT to send now, at once where it is known: the same one for up to 45 minutes, for all who send with these
   * settings. Rejects where none is at hand and the registry can't be asked.
   */
  current(): string | Promise<string>;
  /**
   * APNs called `jwt` expired. True where a newer one is (now) at hand; false where the present one
   * is younger than 20 minutes, because APNs refuses those who renew more often.
   */
  refused(jwt: string): Promise<boolean>;
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

export interface ProviderOptions {
  key: KeyObject;
  keyId: string;
  teamId: string;
  /** That of the settings: no token of others is replaced. */
  version: number;
  tokens: Pick<Apns, "token" | "keepToken">;
  clock: Clock;
}

interface KnownToken {
  jwt: string;
  /** How old it was by the registry's clock when it was read, in milliseconds, and when that was by ours. */
  ageMs: number;
  mono: number;
  wall: number;
}

/**
 * The provider token of token-based APNs connections: an ES256 JWT that must be renewed no more
 * than once in 20 minutes and no less than once an hour. It lies in the registry, for APNs counts how many it is shown.
 */
export function providerToken(options: ProviderOptions): ProviderToken {
  const { clock } = options;
  let known: KnownToken | null = null;
  let reading: Promise<string> | null = null;
  // A suspended machine's monotonic clock stands still and a wall clock may be set back, so the
  // older of the two ages counts.
  const age = ({ ageMs, mono, wall }: KnownToken) =>
    ageMs + Math.max(clock.mono() - mono, clock.now() - wall);

  const renew = async (after: { ageMs: number; refused?: string }): Promise<string> => {
    known = await readToken(options, after);
    return known.jwt;
  };
  const renewOnce = (after: { ageMs: number; refused?: string }) => {
    reading ??= renew(after).finally(() => {
      reading = null;
    });
    return reading;
  };

  return {
    current() {
      const present = known;
      if (present !== null && age(present) < RENEW_AFTER_MS) return present.jwt;
      return renewOnce({ ageMs: RENEW_AFTER_MS }).catch((error: unknown) => {
        if (present !== null && age(present) < LAST_MS) return present.jwt;
        throw error;
      });
    },
    async refused(jwt) {
      if (jwt !== known?.jwt) return true;
      return (await renewOnce({ ageMs: NEVER_BEFORE_MS, refused: jwt })) !== jwt;
    },
  };
}

/**
 * The stored token where it is younger than `ageMs` or another than the `refused` one, else a fresh one, unless
 * somebody was faster: then theirs.
 */
async function readToken(
  { tokens, clock, version, ...signer }: ProviderOptions,
  { ageMs, refused }: { ageMs: number; refused?: string },
): Promise<KnownToken> {
  // Twice at most: of those who find it too old one replaces it, and the others find theirs.
  for (let tries = 0; tries < 3; tries++) {
    const { at, token } = await tokens.token();
    const known = (jwt: string, iat: number): KnownToken => ({
      jwt,
      ageMs: (at - iat) * 1000,
      mono: clock.mono(),
      wall: clock.now(),
    });
    // One from the future is from before the clock was set back: nobody knows its age.
    const isYoung = token !== null && at >= token.iat && (at - token.iat) * 1000 < ageMs;
    const isOther = refused !== undefined && token?.jwt !== refused;
    if (token !== null && token.jwt !== null && (isYoung || isOther))
      return known(token.jwt, token.iat);
    const jwt = signedToken({ ...signer, iat: at });
    const fresh = { version, iat: at, jwt, instead: token?.iat ?? null };
    if (await tokens.keepToken(fresh)) return known(jwt, at);
  }
  throw new Error("the provider token is of other settings by now");
}

/** `iat`: Unix seconds. */
export function signedToken(options: {
  key: KeyObject;
  keyId: string;
  teamId: string;
  iat: number;
}): string {
  const header = part({ alg: "ES256", kid: options.keyId });
  const claims = part({ iss: options.teamId, iat: options.iat });
  const signature = sign("sha256", Buffer.from(`${header}.${claims}`), {
    key: options.key,
    dsaEncoding: "ieee-p1363",
  });
  return `${header}.${claims}.${signature.toString("base64url")}`;
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
