import { base62Secret, hexId, sha256 } from "../../kit/ids.ts";
import { foldEmail } from "../../people/email.ts";
import type { Reader, Tx } from "../../store/store.ts";
import type { Room } from "./room.ts";

const DAY = 86_400;
const IDLE_SECONDS = 30 * DAY;
const LONGEST_SECONDS = 180 * DAY;
/** A session's last use is written at most once in this many seconds. */
const TOUCH_SECONDS = 60;
const PURGE_ROWS = 500;

export interface HostedAccount {
  /** 16 hex characters. */
  id: string;
  email: string;
}

export interface Accounts {
  /** Adds an account, or finds the one that has this email already (case folded). */
  add(email: string): Promise<{ account: HostedAccount; created: boolean }>;
  get(id: string): Promise<HostedAccount | null>;
  byEmail(email: string): Promise<HostedAccount | null>;
}

export function findAccount(reader: Reader, id: string): HostedAccount | null {
  const row = reader.sql("SELECT id, email FROM accounts WHERE id = ?").get(id);
  return (row as HostedAccount | undefined) ?? null;
}

function findByEmail(reader: Reader, email: string): HostedAccount | null {
  const row = reader
    .sql("SELECT id, email FROM accounts WHERE email_folded = ?")
    .get(foldEmail(email.trim()));
  return (row as HostedAccount | undefined) ?? null;
}

export function accountsIn(room: Room): Accounts {
  return {
    add: (email) =>
      room.write((tx) => {
        const known = findByEmail(tx, email);
        if (known !== null) return { account: known, created: false };
        const account = { id: hexId(tx.random), email: email.trim() };
        tx.sql(
          "INSERT INTO accounts (id, email, email_folded, created_at) VALUES (?, ?, ?, ?)",
        ).run(account.id, account.email, foldEmail(email.trim()), tx.at);
        return { account, created: true };
      }),
    get: async (id) => findAccount(room.store, id),
    byEmail: async (email) => findByEmail(room.store, email),
  };
}

export interface Sessions {
  /** Mints a session token (`pts_…`) for an account; only its hash is kept. */
  add(accountId: string): Promise<string>;
  /** The account a token stands for; null when unknown, idle for 30 days or 180 days old. */
  use(token: string): Promise<HostedAccount | null>;
}

export function sessionsIn(room: Room): Sessions {
  return {
    add: (accountId) =>
      room.write((tx) => {
        const token = `pts_${base62Secret(tx.random)}`;
        tx.sql(
          "INSERT INTO sessions (hash, account_id, created_at, last_used_at) VALUES (?, ?, ?, ?)",
        ).run(sha256(token), accountId, tx.at, tx.at);
        return token;
      }),
    async use(token) {
      const now = Math.floor(room.store.clock.now() / 1000);
      const hash = sha256(token);
      const row = room.store
        .sql("SELECT account_id, created_at, last_used_at FROM sessions WHERE hash = ?")
        .get(hash) as { account_id: string; created_at: number; last_used_at: number } | undefined;
      if (row === undefined || isOver(row, now)) return null;
      if (now - row.last_used_at >= TOUCH_SECONDS) {
        const touched = room.write((tx) =>
          tx
            .sql("UPDATE sessions SET last_used_at = ? WHERE hash = ? AND last_used_at < ?")
            .run(now, hash, now),
        );
        // Nobody waits for this, and a full disk must not sign people out.
        touched.catch(() => {});
      }
      return findAccount(room.store, row.account_id);
    },
  };
}

function isOver(session: { created_at: number; last_used_at: number }, now: number): boolean {
  return now - session.last_used_at >= IDLE_SECONDS || now - session.created_at >= LONGEST_SECONDS;
}

/** Forgets sessions that nobody can use any more, a slice at a time. */
export function purgeSessions(tx: Tx): number {
  return tx
    .sql(
      `DELETE FROM sessions WHERE hash IN
         (SELECT hash FROM sessions WHERE last_used_at <= ? OR created_at <= ? LIMIT ${PURGE_ROWS})`,
    )
    .run(tx.at - IDLE_SECONDS, tx.at - LONGEST_SECONDS).changes;
}
