import { notFound } from "../ground/kit/errors.ts";
import { base62Secret, hexId, sha256 } from "../ground/kit/ids.ts";
import type { Role } from "../ground/store/columns.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { type ActingAccount, getAccount, liveRole, mustManageAccount } from "./accounts.ts";
import { mustManage } from "./roles.ts";
import type { Session, SessionMethod } from "./session.ts";

/**
 * Browser sessions (contract §32). A session opens pages, and no route of `/v1`. Prepared statements, because every
 * request of a page asks for them.
 */

const DAY = 86_400;
/** Seconds without a request until a session ends, and its longest life. */
const IDLE = 30 * DAY;
const LONGEST = 180 * DAY;
/** Sessions of one account. */
export const MOST_SESSIONS = 50;
/** Characters of the user agent that are stored. */
const MOST_AGENT = 256;
/** Precision of "last seen", in seconds. */
export const SEEN_TO = 60;

export interface NewSession {
  accountId: string;
  method: SessionMethod;
  /** The API key that opened the session, which ends with it; else null. */
  keyId: string | null;
  /** The passkey that opened the session, if one did. */
  passkeyId?: string;
  /** The name of the provider that opened the session, if one did. */
  provider?: string;
  address: string;
  agent: string;
}

const ADD = `INSERT INTO sessions
  (id, account_id, hash, method, key_id, passkey_id, created_at, last_seen_at, expires_at, address, agent, provider)
  VALUES (@id, @accountId, @hash, @method, @keyId, @passkeyId, @at, @at, @expiresAt, @address, @agent, @provider)`;
const SIGNED_IN = "UPDATE accounts SET signed_in_at = ? WHERE id = ?";
const TOO_MANY = `DELETE FROM sessions WHERE rowid IN
  (SELECT rowid FROM sessions WHERE account_id = ? ORDER BY last_seen_at DESC, rowid DESC LIMIT -1 OFFSET ?)`;

/**
 * Signs a browser in. Only this answer contains the cookie (43 base62 characters, 256 bits). Above 50 sessions of one
 * account the one that was seen longest ago ends.
 */
export function openSession(tx: Tx, session: NewSession): { id: string; cookie: string } {
  const { accountId, passkeyId = null, provider = null } = session;
  const id = hexId(tx.random);
  const cookie = base62Secret(tx.random);
  const agent = session.agent.slice(0, MOST_AGENT).toWellFormed();
  const times = { at: tx.at, expiresAt: tx.at + IDLE };
  const hash = sha256(cookie);
  tx.sql<[object]>(ADD).run({ ...session, ...times, id, hash, passkeyId, provider, agent });
  tx.sql<[account: string, most: number]>(TOO_MANY).run(accountId, MOST_SESSIONS);
  tx.sql<[at: number, id: string]>(SIGNED_IN).run(tx.at, accountId);
  tx.note({ topic: "people" });
  return { id, cookie };
}

/** The session's account as it is now. */
export interface Visitor {
  sessionId: string;
  accountId: string;
  role: Role;
  name: string;
  email: string;
  /** The key that opened the session. */
  keyId: string | null;
  /** Unix seconds, to the minute. */
  seenAt: number;
}

const FIND = `SELECT s.id AS sessionId, a.id AS accountId, a.role, a.display_name AS name, a.email,
    s.key_id AS keyId, s.last_seen_at AS seenAt
  FROM sessions s JOIN accounts a ON a.id = s.account_id WHERE s.hash = ? AND s.expires_at > ?`;

/** The session of a cookie at `now` (Unix seconds); null when unknown, ended, idle for 30 days or 180 days old. */
export function findSession(reader: Reader, cookie: string, now: number): Visitor | null {
  return reader.sql<[hash: string, now: number], Visitor>(FIND).get(sha256(cookie), now) ?? null;
}

const IS = "SELECT 1 FROM sessions WHERE id = ? AND expires_at > ?";

/** Whether a known session is still valid at `now` (Unix seconds). */
export function isSession(reader: Reader, id: string, now: number): boolean {
  return reader.sql<[id: string, now: number]>(IS).get(id, now) !== undefined;
}

const SEEN = `UPDATE sessions SET last_seen_at = @at, expires_at = min(@at + ${IDLE}, created_at + ${LONGEST})
  WHERE id = @id AND expires_at > @at`;

/** Stores that a session was seen, unless it is over. */
export function seenSession(tx: Tx, id: string): void {
  tx.sql<[{ at: number; id: string }]>(SEEN).run({ at: tx.at, id });
}

const LIST = `SELECT id, account_id, method, provider, key_id, created_at, last_seen_at, expires_at, address, agent
  FROM sessions WHERE expires_at > @now AND (@account IS NULL OR account_id = @account)
  ORDER BY last_seen_at DESC, rowid DESC`;

/** The valid sessions of an account, or of everybody (null), at `now`; the last seen first. */
export function listSessions(reader: Reader, account: string | null, now: number): Session[] {
  return reader.sql<[{ account: string | null; now: number }], Session>(LIST).all({ account, now });
}

/** An account's sessions, if `by` may see them: their own, a manager everybody's. Throws 403, 404. */
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
 * Signs a browser out. From the commit on its cookie is invalid. Everyone can end their own session; another's needs
 * the right to change that account. Throws 404, 403.
 */
export function endSession(tx: Tx, by: ActingAccount, id: string): void {
  const whose = tx
    .sql<[id: string, now: number], { accountId: string; role: Role }>(WHOSE)
    .get(id, tx.at);
  if (whose === undefined) throw notFound("session");
  if (whose.accountId !== by) mustManageAccount(tx, by, whose.role);
  tx.sql<[id: string]>(END).run(id);
  tx.note({ topic: "people" });
}

const OTHERS = "DELETE FROM sessions WHERE account_id = ? AND id IS NOT ?";

/** Ends all sessions of an account except `kept` (null: all). Returns how many. */
export function endOthers(tx: Tx, account: string, kept: string | null): number {
  const { changes } = tx.sql<[account: string, kept: string | null]>(OTHERS).run(account, kept);
  if (changes > 0) tx.note({ topic: "people" });
  return changes;
}

const BY_PASSKEY = "DELETE FROM sessions WHERE passkey_id = ? AND id IS NOT ?";

/** Ends the sessions that a passkey opened, except `kept`. */
export function endByPasskey(tx: Tx, passkey: string, kept: string): void {
  tx.sql<[passkey: string, kept: string]>(BY_PASSKEY).run(passkey, kept);
}

const SWEEP = `DELETE FROM sessions WHERE rowid IN
  (SELECT rowid FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`;

/** Deletes at most `most` sessions that ended before `before` (Unix seconds); returns whether there may be more. */
export function sweepSessions(tx: Tx, { before, most }: { before: number; most: number }): boolean {
  return tx.sql<[before: number, most: number]>(SWEEP).run(before, most).changes === most;
}
