import { notFound } from "../ground/kit/errors.ts";
import { base62Secret, hexId, sha256 } from "../ground/kit/ids.ts";
import type { Role } from "../ground/store/columns.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { type By, getAccount, liveRole, mustGovern } from "./accounts.ts";
import { mustManage } from "./roles.ts";
import type { Session, SessionMethod } from "./session.ts";

/**
 * Who is signed in with a browser (contract §32). A session opens pages and no route of `/v1`. Prepared: it is asked for
 * every request of a page.
 */

const DAY = 86_400;
/** Seconds after which a session that isn't seen is over, and after which any is. */
const IDLE = 30 * DAY;
const LONGEST = 180 * DAY;
/** Sessions of one account. */
export const MOST_SESSIONS = 50;
/** Characters of what a browser says of itself. */
const MOST_AGENT = 256;
/** Seconds to which it is known when a session was last seen. */
export const SEEN_TO = 60;

export interface NewSession {
  accountId: string;
  method: SessionMethod;
  /** The API key that it came in by, whose end is its own; else null. */
  keyId: string | null;
  /** The passkey that it came in by; absent where it came by none. */
  passkeyId?: string;
  /** What the provider is called that it came in by; absent where it came by none. */
  provider?: string;
  address: string;
  agent: string;
}

const ADD = `INSERT INTO sessions
  (id, account_id, hash, method, key_id, passkey_id, created_at, last_seen_at, expires_at, address, agent, provider)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const SIGNED_IN = "UPDATE accounts SET signed_in_at = ? WHERE id = ?";
const TOO_MANY = `DELETE FROM sessions WHERE rowid IN
  (SELECT rowid FROM sessions WHERE account_id = ? ORDER BY last_seen_at DESC, rowid DESC LIMIT -1 OFFSET ?)`;

/**
 * Signs a browser in. `cookie` (43 base62 characters, 256 bits) is only ever in this answer. Of more than 50 of one account
 * that goes which wasn't seen for longest.
 */
export function openSession(tx: Tx, session: NewSession): { id: string; cookie: string } {
  const { accountId, method, keyId, passkeyId = null, provider = null, address } = session;
  const id = hexId(tx.random);
  const cookie = base62Secret(tx.random);
  const agent = session.agent.slice(0, MOST_AGENT).toWellFormed();
  tx.sql<(string | number | null)[]>(ADD).run(
    id,
    accountId,
    sha256(cookie),
    method,
    keyId,
    passkeyId,
    tx.at,
    tx.at,
    tx.at + IDLE,
    address,
    agent,
    provider,
  );
  tx.sql<[account: string, most: number]>(TOO_MANY).run(accountId, MOST_SESSIONS);
  tx.sql<[at: number, id: string]>(SIGNED_IN).run(tx.at, accountId);
  tx.note({ topic: "people" });
  return { id, cookie };
}

/** Who looks: the session's account as it is right now. */
export interface Visitor {
  sessionId: string;
  accountId: string;
  role: Role;
  name: string;
  email: string;
  /** The key that it came in by. */
  keyId: string | null;
  /** Unix seconds, to the minute. */
  seenAt: number;
}

const FIND = `SELECT s.id AS sessionId, a.id AS accountId, a.role, a.display_name AS name, a.email,
    s.key_id AS keyId, s.last_seen_at AS seenAt
  FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ? AND s.expires_at > ?`;

/** Whose cookie this is at `now` (Unix seconds); null when unknown, ended, idle for 30 days or 180 days old. */
export function findSession(reader: Reader, cookie: string, now: number): Visitor | null {
  return reader.sql<[hash: string, now: number], Visitor>(FIND).get(sha256(cookie), now) ?? null;
}

const IS = "SELECT 1 FROM sessions WHERE id = ? AND expires_at > ?";

/** Whether a session that was found before is still one at `now` (Unix seconds). */
export function isSession(reader: Reader, id: string, now: number): boolean {
  return reader.sql<[id: string, now: number]>(IS).get(id, now) !== undefined;
}

const SEEN = `UPDATE sessions SET last_seen_at = @at, expires_at = min(@at + ${IDLE}, created_at + ${LONGEST})
  WHERE id = @id AND expires_at > @at`;

/** Notes that a session was seen; one that is over stays so. */
export function seenSession(tx: Tx, id: string): void {
  tx.sql<[{ at: number; id: string }]>(SEEN).run({ at: tx.at, id });
}

const LIST = `SELECT id, account_id, method, provider, key_id, created_at, last_seen_at, expires_at, address, agent
  FROM sessions WHERE expires_at > @now AND (@account IS NULL OR account_id = @account)
  ORDER BY last_seen_at DESC, rowid DESC`;

/** The sessions of an account, or everybody's (null), that aren't over at `now`; those seen last come first. */
export function listSessions(reader: Reader, account: string | null, now: number): Session[] {
  return reader.sql<[{ account: string | null; now: number }], Session>(LIST).all({ account, now });
}

/** An account's sessions as `by` may see them: their own, a manager anyone's. Throws 403, 404. */
export function visibleSessions(
  reader: Reader,
  by: string,
  { account, now }: { account: string; now: number },
): Session[] {
  if (account !== by) {
    mustManage(liveRole(reader, by));
    getAccount(reader, account);
  }
  return listSessions(reader, account, now);
}

const WHOSE = `SELECT a.id AS accountId, a.role FROM sessions s JOIN accounts a ON a.id = s.account_id
  WHERE s.id = ? AND s.expires_at > ?`;
const END = "DELETE FROM sessions WHERE id = ?";

/**
 * Signs a browser out: it opens nothing from the commit on. One's own always, another's as far as one may change that
 * account. Throws 404, 403.
 */
export function endSession(tx: Tx, by: By, id: string): void {
  const whose = tx
    .sql<[id: string, now: number], { accountId: string; role: Role }>(WHOSE)
    .get(id, tx.at);
  if (whose === undefined) throw notFound("session");
  if (whose.accountId !== by) mustGovern(tx, by, whose.role);
  tx.sql<[id: string]>(END).run(id);
  tx.note({ topic: "people" });
}

const OTHERS = "DELETE FROM sessions WHERE account_id = ? AND id IS NOT ?";

/** Signs all browsers of an account out but the session `kept` (null: all of them). How many. */
export function endOthers(tx: Tx, account: string, kept: string | null): number {
  const { changes } = tx.sql<[account: string, kept: string | null]>(OTHERS).run(account, kept);
  if (changes > 0) tx.note({ topic: "people" });
  return changes;
}

const BY_PASSKEY = "DELETE FROM sessions WHERE passkey_id = ? AND id IS NOT ?";

/** Signs out who came in by a passkey, but the session `kept`. */
export function endByPasskey(tx: Tx, passkey: string, kept: string): void {
  tx.sql<[passkey: string, kept: string]>(BY_PASSKEY).run(passkey, kept);
}

const SWEEP = `DELETE FROM sessions WHERE rowid IN
  (SELECT rowid FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`;

/** Deletes at most `most` sessions that were over before `before` (Unix seconds); whether there may be more. */
export function sweepSessions(tx: Tx, { before, most }: { before: number; most: number }): boolean {
  return tx.sql<[before: number, most: number]>(SWEEP).run(before, most).changes === most;
}
