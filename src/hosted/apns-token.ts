import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { Clock } from "../ground/kit/clock.ts";
import type { Apns } from "./registry/apns-settings.ts";

const RENEW_AFTER_MS = 45 * 60_000;
const NEVER_BEFORE_MS = 20 * 60_000;
/** APNs refuses a token after an hour; an old one is used until then if no new one can be made. */
const LAST_MS = 58 * 60_000;

export type ProviderToken = ReturnType<typeof providerToken>;

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

interface ProviderOptions {
  key: KeyObject;
  keyId: string;
  teamId: string;
  /** The settings' version: a token made with other settings is never replaced. */
  version: number;
  tokens: Pick<Apns, "token" | "keepToken">;
  clock: Clock;
}

interface KnownToken {
  jwt: string;
  /** The token's age in milliseconds by the registry's clock when it was read, and the local times of that. */
  ageMs: number;
  mono: number;
  wall: number;
}

/**
 * The provider token of an APNs connection: an ES256 JWT, renewed at most once in 20 minutes and at least once an hour.
 * It lies in the registry, so that all nodes send the same one: APNs counts how many different ones it gets.
 */
export function providerToken(options: ProviderOptions) {
  const { clock } = options;
  let known: KnownToken | null = null;
  let reading: Promise<string> | null = null;
  // The monotonic clock stops while a machine is suspended, and the wall clock can be set back: the larger age counts.
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
    /**
     * The JWT to send with, the same for up to 45 minutes for everybody with these settings. Returned directly where it
     * is known. Rejects where there is none and the registry can't be read.
     */
    current(): string | Promise<string> {
      const present = known;
      if (present !== null && age(present) < RENEW_AFTER_MS) return present.jwt;
      return renewOnce({ ageMs: RENEW_AFTER_MS }).catch((error: unknown) => {
        if (present !== null && age(present) < LAST_MS) return present.jwt;
        throw error;
      });
    },
    /**
     * Called when APNs says that `jwt` expired. True where a newer one is available; false where the present one is
     * younger than 20 minutes, because APNs refuses more frequent renewals.
     */
    async refused(jwt: string): Promise<boolean> {
      if (jwt !== known?.jwt) return true;
      return (await renewOnce({ ageMs: NEVER_BEFORE_MS, refused: jwt })) !== jwt;
    },
  };
}

/**
 * The stored token where it is younger than `ageMs` or differs from the `refused` one; else a new one, or one that
 * another node stored first.
 */
async function readToken(
  { tokens, clock, version, ...signer }: ProviderOptions,
  { ageMs, refused }: { ageMs: number; refused?: string },
): Promise<KnownToken> {
  // Of several nodes that find the token too old one replaces it; the others find the new one at their next try.
  for (let tries = 0; tries < 3; tries++) {
    const { at, token } = await tokens.token();
    const known = (jwt: string, iat: number): KnownToken => ({
      jwt,
      ageMs: (at - iat) * 1000,
      mono: clock.mono(),
      wall: clock.now(),
    });
    // A token from the future was made before the clock was set back: its age is unknown.
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
