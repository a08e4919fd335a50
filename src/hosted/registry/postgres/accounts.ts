import { base62Secret, hexId, sha256 } from "../../../ground/kit/ids.ts";
import { foldEmail } from "../../../people/email.ts";
import {
  type Accounts,
  type HostedAccount,
  lowerEmail,
  type Sessions,
  sessionLife,
} from "../accounts.ts";
import type { DatabaseTx } from "./connect.ts";
import type { PostgresDeps } from "./deps.ts";

const PURGE_ROWS = 500;
const PURGE_MS = 30_000;

export function postgresAccounts({ database, random }: PostgresDeps): Accounts {
  return {
    async add(email) {
      const known = await postgresFindByEmail(database, email);
      if (known !== null) return { account: known, created: false };
      const id = hexId(random);
      await database.query(
        `INSERT INTO accounts (id, email, email_folded, created_at) VALUES ($1, $2, $3, now())
         ON CONFLICT DO NOTHING`,
        [id, email.trim(), foldEmail(email)],
      );
      // Another caller's account where that was first; this one's also where the answer was lost.
      const account = await postgresFindByEmail(database, email);
      if (account === null) throw new Error("an account that was added is not there");
      return { account, created: account.id === id };
    },
    async get(id) {
      const [row] = await database.query<HostedAccount>(
        "SELECT id, email FROM accounts WHERE id = $1",
        [id],
      );
      return row ?? null;
    },
    byEmail: (email) => postgresFindByEmail(database, email),
  };
}

/** The account of an email. If two differ only in how an accent is encoded, the exact one. */
export async function postgresFindByEmail(
  asker: Pick<DatabaseTx, "query">,
  email: string,
): Promise<HostedAccount | null> {
  const [row] = await asker.query<HostedAccount>(
    `SELECT id, email FROM accounts WHERE email_folded IN ($1, $2)
     ORDER BY email_folded = $1 DESC LIMIT 1`,
    [lowerEmail(email), foldEmail(email)],
  );
  return row ?? null;
}

const LIVES = `s.last_used_at > now() - interval '${sessionLife.idle} s'
  AND s.created_at > now() - interval '${sessionLife.longest} s'`;
/** Usually it writes nothing. */
const USE = `WITH touched AS (
    UPDATE sessions s SET last_used_at = now()
    WHERE hash = $1 AND ${LIVES} AND s.last_used_at <= now() - interval '${sessionLife.touch} s')
  SELECT a.id, a.email FROM sessions s JOIN accounts a ON a.id = s.account_id
  WHERE s.hash = $1 AND ${LIVES}`;

export function postgresSessions({ database, random }: PostgresDeps): Sessions {
  return {
    async add(accountId) {
      const token = `pts_${base62Secret(random)}`;
      await database.query(
        `INSERT INTO sessions (hash, account_id, created_at, last_used_at)
         VALUES ($1, $2, now(), now()) ON CONFLICT DO NOTHING`,
        [sha256(token), accountId],
      );
      return token;
    },
    async use(token) {
      const [account] = await database.query<HostedAccount>(USE, [sha256(token)]);
      return account ?? null;
    },
  };
}

/** Deletes sessions that are over, a slice at a time, without rows that another node has locked. */
export async function postgresPurgeSessions({ database }: PostgresDeps): Promise<number> {
  const gone = await database.query(
    `DELETE FROM sessions WHERE hash IN (SELECT s.hash FROM sessions s WHERE NOT (${LIVES})
       LIMIT ${PURGE_ROWS} FOR UPDATE SKIP LOCKED) RETURNING 1`,
    [],
    { withinMs: PURGE_MS },
  );
  return gone.length;
}
