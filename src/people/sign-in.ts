import { eq } from "drizzle-orm";
import { type Author, auditedStore, isStorageFull, writeEntry } from "../ground/audit/record.ts";
import { countRefused } from "../ground/audit/refused.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Passwords } from "../ground/kit/password.ts";
import { accounts } from "../ground/store/schema.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { findActor } from "./actor.ts";
import { foldEmail } from "./email.ts";
import { passwordsOpen } from "./oidc/password-switch.ts";
import type { Redemption } from "./pairing.ts";
import { doubtPasskey, usePasskey } from "./passkey.ts";
import { type PasskeyProof, provePasskey, TOO_LATE } from "./passkeys.ts";
import { claimSeat, grantKey, type SeatClaim } from "./redeem.ts";
import type { RelyingParty } from "./relying-party.ts";
import type { SessionMethod } from "./session.ts";
import { type NewSession, openSession } from "./sessions.ts";
import type { Tries } from "./tries.ts";
import type { WaysIn } from "./ways-in.ts";

/**
 * The ways to sign in with a browser (contract §32). Each writes to the tenant's store and its audit, and works on a
 * full disk as an acknowledgement does.
 */

export interface SignInParts {
  id: string;
  store: Store;
  passwords: Passwords;
  tries: Tries;
}

/** The browser that signs in. */
export interface Browser {
  address: string;
  /** Its user agent. */
  agent: string;
}

export interface SignedIn {
  accountId: string;
  sessionId: string;
  /** For the browser's cookie. Only this answer contains it. */
  cookie: string;
}

/** The same error for every wrong email, password and key. */
export function signInRefused(): ServiceError {
  return new ServiceError("sign_in_refused", "This email and password, or this key, is wrong.");
}

/**
 * Throws 401 sign_in_refused, after the same work (one argon2) whether the account exists or not; 429 rate_limited with
 * the seconds to wait after too many wrong passwords for this email; overloaded while too many are being checked. Where
 * passwords are off, none is checked.
 */
export async function signInByPassword(
  parts: SignInParts,
  { email, password, ...browser }: { email: string; password: string } & Browser,
): Promise<SignedIn> {
  const { store, passwords } = parts;
  if (!passwordsOpen(store))
    throw new ServiceError(
      "sign_in_refused",
      "Signing in with a password is turned off here: use another way.",
    );
  const counted = parts.tries.begin(email);
  const account = passwordOf(store, email);
  const isRight = await passwords.verify(password, account?.hash ?? null).catch((error) => {
    counted.takeBack();
    throw error;
  });
  // Meanwhile the account may have been removed, or its password changed.
  const isSame = passwordOf(store, email)?.hash === account?.hash;
  if (account !== null && isRight && isSame) {
    counted.takeBack();
    return enter(parts, { accountId: account.id, method: "password", keyId: null, ...browser });
  }
  counted.wrong();
  refused(store, { method: "password", account: account?.id ?? "", address: browser.address });
  throw signInRefused();
}

function passwordOf(reader: Reader, email: string): { id: string; hash: string } | null {
  const account = reader.orm
    .select({ id: accounts.id, hash: accounts.passwordHash })
    .from(accounts)
    .where(eq(accounts.emailFolded, foldEmail(email)))
    .get();
  return account ?? null;
}

/** Signs in with a pasted API key; the session ends when the key does. Throws 401 sign_in_refused. */
export function signInByKey(
  parts: SignInParts,
  { key, ...browser }: { key: string } & Browser,
): SignedIn {
  const actor = findActor(parts.store, key.trim());
  if (actor === null) {
    refused(parts.store, { method: "key", account: "", address: browser.address });
    throw signInRefused();
  }
  const { accountId, keyId } = actor;
  return enter(parts, { accountId, method: "key", keyId, ...browser });
}

/**
 * Redeems a pairing code and signs the browser in, in one transaction. `mintsKey`: also makes an API key and a receipt,
 * as `POST /v1/pair` does. Throws 401 pairing_refused as `redeem` does.
 */
export async function signInByCode(
  parts: SignInParts,
  claim: SeatClaim,
  { mintsKey = false, ...browser }: { mintsKey?: boolean } & Browser,
): Promise<SignedIn & { granted: Redemption | null }> {
  const { id: tenantId, passwords } = parts;
  const store = auditedStore(parts.store, {
    accountId: null,
    via: "pairing",
    hint: "",
    address: browser.address,
    verb: "signIn",
    target: { kind: "pairing_code", id: "" },
  });
  return claimSeat({ store, passwords }, claim, (tx, accountId) => {
    const granted = mintsKey ? grantKey(tx, tenantId, accountId) : null;
    const session = { accountId, method: "pairing", keyId: null, ...browser } as const;
    const { id: sessionId, cookie } = openSession(tx, session);
    return { accountId, sessionId, cookie, granted };
  });
}

/**
 * Signs in by a passkey; `answer` is the browser's JSON. Throws 401 sign_in_refused. A counter that went back is shown
 * in the audit and to the passkey's owner.
 */
export async function signInByPasskey(
  parts: SignInParts & { ways: WaysIn },
  { party, answer, ...browser }: { party: RelyingParty; answer: string } & Browser,
): Promise<SignedIn> {
  const { store } = parts;
  const { challenges } = parts.ways;
  const proof = await provePasskey({ store, challenges }, { party, answer });
  const { accountId } = proof;
  if (proof.is === "back") doubted(store, proof, browser.address);
  if (proof.is !== "right") {
    refused(store, { method: "passkey", account: accountId, address: browser.address });
    throw new ServiceError("sign_in_refused", PASSKEY_REFUSED[proof.is]);
  }
  const { passkeyId, counter } = proof;
  const session = { accountId, method: "passkey", keyId: null, passkeyId, ...browser } as const;
  return enter(parts, session, (tx) => {
    // Meanwhile it may have been removed or used.
    if (!usePasskey(tx, { id: passkeyId, counter }))
      throw new ServiceError("sign_in_refused", PASSKEY_REFUSED.wrong);
  });
}

const PASSKEY_REFUSED = {
  wrong: "This passkey isn't known here.",
  late: `No sign-in: ${TOO_LATE}`,
  back: "This passkey has been used before with a higher count: there may be a copy of it. Sign in another way, and remove it.",
} as const;

/** Somebody may have a copy of the passkey: writes an audit row, and a mark that its owner sees. */
function doubted(
  store: Store,
  { accountId, passkeyId, counter, before }: Extract<PasskeyProof, { is: "right" | "back" }>,
  address: string,
): void {
  const target = { kind: "passkey", id: passkeyId };
  const who = { accountId, via: "page", hint: "passkey", address } as const;
  const author: Author = { ...who, verb: "passkeyCounterBack", target };
  try {
    store.write((tx) => {
      doubtPasskey(tx, passkeyId);
      const changes = [{ field: "counter", from: before, to: counter }];
      writeEntry(tx, author, { ...target, name: "", project: null, changes });
    });
  } catch (error) {
    if (!isStorageFull(error)) throw error;
  }
}

/** Signs in by a phone link; null where the browser hasn't answered it, or the link is over. */
export function signInByPhone(
  parts: SignInParts & { ways: WaysIn },
  { secret, ...browser }: { secret: string } & Browser,
): SignedIn | null {
  const accountId = parts.ways.phones.enter(secret);
  if (accountId === null) return null;
  return enter(parts, { accountId, method: "phone", keyId: null, ...browser });
}

/** Opens the session in one transaction with `before`. */
export function enter(
  { store }: Pick<SignInParts, "store">,
  session: NewSession,
  before: (tx: Tx) => void = () => {},
): SignedIn {
  const { accountId, method: hint, address } = session;
  const target = { kind: "session", id: "" };
  const author: Author = { accountId, via: "page", hint, address, verb: "signIn", target };
  const { id: sessionId, cookie } = auditedStore(store, author).write((tx) => {
    before(tx);
    return openSession(tx, session);
  });
  return { accountId, sessionId, cookie };
}

/** Failed tries are counted by the minute. `account` is empty where no account has that email. */
export function refused(
  store: Store,
  { method, account, address }: { method: SessionMethod; account: string; address: string },
): void {
  countRefused(store, {
    accountId: null,
    via: "page",
    hint: method,
    address,
    verb: "signInRefused",
    target: { kind: "account", id: account },
  });
}
