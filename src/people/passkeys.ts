import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import * as z from "zod";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Store } from "../ground/store/store.ts";
import type { Challenges } from "./challenges.ts";
import { findPasskey, insertPasskey, listPasskeys } from "./passkey.ts";
import type { RelyingParty } from "./relying-party.ts";

/**
 * Creates passkeys and signs in with them (WebAuthn level 3). The library that checks an authenticator's answer is
 * loaded at the first answer.
 */

let loading: ReturnType<typeof load> | undefined;
async function load() {
  const [server, helpers] = await Promise.all([
    import("@simplewebauthn/server"),
    import("@simplewebauthn/server/helpers"),
  ]);
  return { ...server, ...helpers };
}
function library() {
  loading ??= load();
  return loading;
}

/** ES256, EdDSA, RS256: every authenticator supports one of them. */
const ALGORITHMS = [-7, -8, -257];
const TIMEOUT_MS = 300_000;

/** The purposes of challenges: one origin and one session or sign-in each. */
export const passkeyPurpose = {
  add: (party: RelyingParty, sessionId: string) => `add ${party.origin} ${sessionId}`,
  signIn: (party: RelyingParty) => `sign in ${party.origin}`,
};

interface Owner {
  accountId: string;
  email: string;
  name: string;
}

/** `PublicKeyCredentialCreationOptionsJSON` without the challenge. */
export function creationOptions(store: Store, party: RelyingParty, owner: Owner): object {
  const known = listPasskeys(store, owner.accountId);
  return {
    rp: { id: party.id, name: "box" },
    user: {
      id: Buffer.from(owner.accountId).toString("base64url"),
      name: owner.email,
      displayName: owner.name,
    },
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key", alg })),
    timeout: TIMEOUT_MS,
    attestation: "none",
    authenticatorSelection: {
      residentKey: "required",
      requireResidentKey: true,
      userVerification: "required",
    },
    excludeCredentials: known
      .filter(({ host }) => host === party.id)
      .map(({ credential }) => ({ type: "public-key", id: credential })),
  };
}

/** `PublicKeyCredentialRequestOptionsJSON` without the challenge: any passkey of the browser for this host. */
export const requestOptions = (party: RelyingParty): object => ({
  rpId: party.id,
  userVerification: "required",
  timeout: TIMEOUT_MS,
});

const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/);
const credential = {
  id: base64url.min(1).max(1400),
  rawId: base64url,
  type: z.literal("public-key"),
};
const created = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(32)).max(8).optional(),
  }),
});
const asserted = z.object({
  ...credential,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.nullish(),
  }),
});

/** A browser's `toJSON()`; null for any other text. */
function read<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

interface Addition {
  party: RelyingParty;
  accountId: string;
  /** The session that asked for the challenge. */
  sessionId: string;
  name: string;
  /** The browser's answer, as JSON. */
  answer: string;
}

const notMade = (why: string) =>
  new ServiceError("invalid_request", `No passkey was added: ${why}`);

/** Stores a passkey that was just created. Throws 400 invalid_request with the reason, 422 too_many. */
export async function addPasskey(
  { store, challenges }: { store: Store; challenges: Challenges },
  { party, accountId, sessionId, name, answer }: Addition,
): Promise<void> {
  const response = read(created, answer);
  if (response === null) throw notMade("that takes a browser with scripts that knows passkeys.");
  const { verifyRegistrationResponse, decodeAttestationObject, isoBase64URL } = await library();
  let isFresh = false;
  const made = await (async () => {
    const attested = decodeAttestationObject(
      isoBase64URL.toBuffer(response.response.attestationObject),
    );
    // No attestation was asked for. With certificates the library would fetch their makers' revocation lists.
    if (attested.get("attStmt").get("x5c") !== undefined) return null;
    if (!["none", "packed"].includes(attested.get("fmt"))) return null;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: (challenge) => {
        isFresh = challenges.spend(challenge, passkeyPurpose.add(party, sessionId));
        return isFresh;
      },
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    return registrationInfo?.credential ?? null;
  })().catch(passRefusals);
  if (made === null)
    throw notMade(isFresh ? "what the browser sent doesn't fit this box." : TOO_LATE);
  store.write((tx) =>
    insertPasskey(tx, {
      accountId,
      name,
      rpId: party.id,
      counter: made.counter,
      credential: made.id,
      publicKey: isoBase64URL.fromBuffer(made.publicKey),
      transports: response.response.transports ?? [],
    }),
  );
}

/** Why a challenge is refused. */
export const TOO_LATE = "it took longer than five minutes, or the box was restarted. Try again.";

/** Errors of the library concern the browser's answer; they become null. */
function passRefusals(error: unknown): null {
  if (error instanceof ServiceError) throw error;
  return null;
}

/** The result of checking a passkey's answer. */
export type PasskeyProof =
  | { is: "right" | "back"; passkeyId: string; accountId: string; counter: number; before: number }
  | { is: "late" | "wrong"; accountId: string };

/**
 * Which passkey signed this sign-in. `back`: its counter isn't above the stored one, so there may be a copy. That is
 * reported only after the signature was verified; the library would check the counter first.
 */
export async function provePasskey(
  { store, challenges }: { store: Store; challenges: Challenges },
  { party, answer }: { party: RelyingParty; answer: string },
): Promise<PasskeyProof> {
  const response = read(asserted, answer);
  const known = response === null ? undefined : findPasskey(store, response.id);
  const accountId = known?.accountId ?? "";
  const handle = Buffer.from(response?.response.userHandle ?? "", "base64url").toString();
  if (response === null || known === undefined || known.rpId !== party.id || handle !== accountId)
    return { is: "wrong", accountId };
  const { verifyAuthenticationResponse, isoBase64URL } = await library();
  let isFresh = false;
  const proved = await verifyAuthenticationResponse({
    response: response as AuthenticationResponseJSON,
    expectedChallenge: (challenge) => {
      isFresh = challenges.spend(challenge, passkeyPurpose.signIn(party));
      return isFresh;
    },
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: true,
    credential: {
      id: known.credential,
      publicKey: isoBase64URL.toBuffer(known.publicKey),
      counter: 0,
    },
  }).catch(passRefusals);
  if (proved === null || !proved.verified) return { is: isFresh ? "wrong" : "late", accountId };
  const counter = proved.authenticationInfo.newCounter;
  const isNext = counter > known.counter || (counter === 0 && known.counter === 0);
  return {
    is: isNext ? "right" : "back",
    passkeyId: known.id,
    accountId,
    counter,
    before: known.counter,
  };
}
