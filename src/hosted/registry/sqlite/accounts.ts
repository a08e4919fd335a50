import { base62Secret, hexId, sha256 } from "../../../ground/kit/ids.ts";
import type { Reader, Store, Tx } from "../../../ground/store/store.ts";
import { foldEmail } from "../../../people/email.ts";
import {
  type Accounts,
  type HostedAccount,
  lowerEmail,
  type Sessions,
  sessionLife,
} from "../accounts.ts";
import type { SqliteDeps } from "./deps.ts";

const PURGE_ROWS = 500;

export function findAccount(reader: Reader, id: string): HostedAccount | null {
  const row = reader.sql<[id: string]>("SELECT id, email FROM accounts WHERE id = ?").get(id);
  return (row as HostedAccount | undefined) ?? null;
}

/** The account of an email. If two differ only in how an accent is encoded, the exact one. */
export function findByEmail(reader: Reader, email: string): HostedAccount | null {
  const find = reader.sql<[folded: string], HostedAccount>(
    "SELECT id, email FROM accounts WHERE email_folded = ?",
  );
  return find.get(lowerEmail(email)) ?? find.get(foldEmail(email)) ?? null;
}

/** Folds the emails of 1.0 in the present way. Where another account has that email, both stay as they are. */
export function refoldEmails(store: Store): void {
  const old = store
    .sql<[], { id: string; email: string; folded: string }>(
      "SELECT id, email, email_folded AS folded FROM accounts WHERE email_folded GLOB '*[^ -~]*'",
    )
    .all()
    .filter(({ email, folded }) => foldEmail(email) !== folded);
  if (old.length === 0) return;
  store.write((tx) => {
    const refold = tx.sql<[folded: string, id: string]>(
      "UPDATE OR IGNORE accounts SET email_folded = ? WHERE id = ?",
    );
    for (const { id, email } of old) refold.run(foldEmail(email), id);
  });
}

export function sqliteAccounts(deps: SqliteDeps): Accounts {
  return {
    add: (email) =>
      deps.write((tx) => {
        const known = findByEmail(tx, email);
        if (known !== null) return { account: known, created: false };
        const account = { id: hexId(tx.random), email: email.trim() };
        tx.sql<[string, string, string, number]>(
          "INSERT INTO accounts (id, email, email_folded, created_at) VALUES (?, ?, ?, ?)",
        ).run(account.id, account.email, foldEmail(email), tx.at);
        return { account, created: true };
      }),
    get: async (id) => findAccount(deps.store, id),
    byEmail: async (email) => findByEmail(deps.store, email),
  };
}

export function sqliteSessions(deps: SqliteDeps): Sessions {
  return {
    add: (accountId) =>
      deps.write((tx) => {
        const token = `pts_${base62Secret(tx.random)}`;
        tx.sql<[string, string, number, number]>(
          "INSERT INTO sessions (hash, account_id, created_at, last_used_at) VALUES (?, ?, ?, ?)",
        ).run(sha256(token), accountId, tx.at, tx.at);
        return token;
      }),
    async use(token) {
      const now = Math.floor(deps.store.clock.now() / 1000);
      const hash = sha256(token);
      const row = deps.store
        .sql<[hash: string], { account_id: string; created_at: number; last_used_at: number }>(
          "SELECT account_id, created_at, last_used_at FROM sessions WHERE hash = ?",
        )
        .get(hash);
      if (row === undefined || isOver(row, now)) return null;
      if (now - row.last_used_at >= sessionLife.touch) {
        const touched = deps.write((tx) =>
          tx
            .sql<[number, string, number]>(
              "UPDATE sessions SET last_used_at = ? WHERE hash = ? AND last_used_at < ?",
            )
            .run(now, hash, now),
        );
        // The caller doesn't wait for this, and a full disk must not sign people out.
        touched.catch(() => {});
      }
      return findAccount(deps.store, row.account_id);
    },
  };
}

function isOver(session: { created_at: number; last_used_at: number }, now: number): boolean {
  return (
    now - session.last_used_at >= sessionLife.idle ||
    now - session.created_at >= sessionLife.longest
  );
}

/** Deletes sessions that are over, a slice at a time. */
export function purgeSessions(tx: Tx): number {
  return tx
    .sql<[number, number]>(
      `DELETE FROM sessions WHERE hash IN
         (SELECT hash FROM sessions WHERE last_used_at <= ? OR created_at <= ? LIMIT ${PURGE_ROWS})`,
    )
    .run(tx.at - sessionLife.idle, tx.at - sessionLife.longest).changes;
}
