import { eq } from "drizzle-orm";
import { type Author, auditedStore } from "../audit/record.ts";
import { countRefused } from "../audit/refused.ts";
import { ServiceError } from "../kit/errors.ts";
import type { Passwords } from "../kit/password.ts";
import { accounts } from "../store/schema.ts";
import type { Reader, Store } from "../store/store.ts";
import { findActor } from "./actor.ts";
import { foldEmail } from "./email.ts";
import type { Redemption } from "./pairing.ts";
import { claimSeat, grantKey, type SeatClaim } from "./redeem.ts";
import type { SessionMethod } from "./session.ts";
import { openSession } from "./sessions.ts";
import type { Tries } from "./tries.ts";

/**
 * The ways in for a browser (contract §32). Each takes a tenant's own store, leaves its rows in the audit itself, and works on a full
 * disk as an acknowledgement does.
 */

export interface SignInParts {
  id: string;
  store: Store;
  passwords: Passwords;
  tries: Tries;
}

/** The browser that wants in. */
export interface Browser {
  address: string;
  /** What it says that it is. */
  agent: string;
}

export interface SignedIn {
  accountId: string;
  sessionId: string;
  /** What the browser is to keep: only ever in this answer. */
  cookie: string;
}

/** One for every email and password, and every key, that doesn't open. */
export function signInRefused(): ServiceError {
  return new ServiceError("sign_in_refused", "That is no email and password, or key, known here.");
}

/**
 * Throws 401 sign_in_refused, the same after the same work (one argon2) whether there is such an account or not; 429 rate_limited
 * with the seconds to wait after too many wrong passwords for this email, overloaded while too many are checked.
 */
export async function signInByPassword(
  parts: SignInParts,
  { email, password, ...browser }: { email: string; password: string } & Browser,
): Promise<SignedIn> {
  const { store, passwords } = parts;
  const counted = parts.tries.begin(email);
  const account = passwordOf(store, email);
  const isRight = await passwords.verify(password, account?.hash ?? null).catch((error) => {
    counted.takeBack();
    throw error;
  });
  // Meanwhile the account may be gone, or its password another.
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

/** With an API key that was pasted; the session ends with it. Throws 401 sign_in_refused. */
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
 * Redeems a pairing code in a browser, in one transaction with the sign-in. `mintsKey`: with an API key and a receipt,
 * as `POST /v1/pair` gives them. Throws 401 pairing_refused as `redeem` does.
 */
export async function signInByCode(
  parts: SignInParts,
  claim: SeatClaim,
  { mintsKey = false, ...browser }: { mintsKey?: boolean } & Browser,
): Promise<SignedIn & { granted: Redemption | null }> {
  const { id: tenantId, passwords } = parts;
  const store = auditedStore(parts.store, {
    ...{ accountId: null, via: "pairing", hint: "", address: browser.address, verb: "signIn" },
    target: { kind: "pairing_code", id: "" },
  });
  return claimSeat({ store, passwords }, claim, (tx, accountId) => {
    const granted = mintsKey ? grantKey(tx, tenantId, accountId) : null;
    const session = { accountId, method: "pairing", keyId: null, ...browser } as const;
    const { id: sessionId, cookie } = openSession(tx, session);
    return { accountId, sessionId, cookie, granted };
  });
}

function enter(
  { store }: SignInParts,
  session: { accountId: string; method: SessionMethod; keyId: string | null } & Browser,
): SignedIn {
  const { accountId, method: hint, address } = session;
  const target = { kind: "session", id: "" };
  const author: Author = { accountId, via: "page", hint, address, verb: "signIn", target };
  const { id: sessionId, cookie } = auditedStore(store, author).write((tx) =>
    openSession(tx, session),
  );
  return { accountId, sessionId, cookie };
}

/** Failed tries are counted by the minute: `account` is empty where there is none of that email. */
function refused(
  store: Store,
  { method, account, address }: { method: SessionMethod; account: string; address: string },
): void {
  countRefused(store, {
    ...{ accountId: null, via: "page", hint: method, address, verb: "signInRefused" },
    target: { kind: "account", id: account },
  });
}
