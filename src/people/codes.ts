import { and, asc, desc, eq, gt, isNotNull, isNull, lt, lte, type SQL } from "drizzle-orm";
import { notFound } from "../ground/kit/errors.ts";
import { hexId, hexSecret, sha256 } from "../ground/kit/ids.ts";
import type { Role } from "../ground/store/columns.ts";
import { getMeta, setMeta } from "../ground/store/meta.ts";
import { accounts, pairCodes } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import { type ActingAccount, getAccount, mustBeGrantable, mustManageAccount } from "./accounts.ts";
import { foldEmail } from "./email.ts";
import type { IssuedCode, IssuedReset, PendingCode } from "./pairing.ts";
import { atLeast, isManager } from "./roles.ts";

/** Issues a code that makes an account (contract §15, Pairing rule 3). Throws 403 where `by` can't give the role. */
export function issueCode(
  tx: Tx,
  by: ActingAccount,
  seat: { role: Role; email: string | null; ttlSeconds: number },
): IssuedCode {
  mustBeGrantable(tx, by, seat.role);
  const { role, email } = seat;
  const id = hexId(tx.random);
  const code = hexSecret(tx.random);
  const expiresAt = tx.at + seat.ttlSeconds;
  tx.orm.delete(pairCodes).where(lte(pairCodes.expiresAt, tx.at)).run();
  tx.orm
    .insert(pairCodes)
    .values({ id, hash: sha256(code), role, email, issuedBy: by, createdAt: tx.at, expiresAt })
    .run();
  return { id, code, role, email, expires_at: expiresAt };
}

const RESET_SECONDS = 3600;

/** A code for the first account, an owner's, which is good for an hour. */
export const issueFirstCode = (tx: Tx): string =>
  issueCode(tx, null, { role: "owner", email: null, ttlSeconds: 3600 }).code;

/**
 * Issues a code that sets an account's password, valid for an hour. An earlier such code becomes invalid. Throws 404;
 * 403 unless `by` may change that account.
 */
export function issueReset(
  tx: Tx,
  by: ActingAccount,
  accountId: string,
): Omit<IssuedReset, "link"> {
  const { email, role } = getAccount(tx, accountId);
  mustManageAccount(tx, by, role);
  tx.orm.delete(pairCodes).where(eq(pairCodes.accountId, accountId)).run();
  const code = hexSecret(tx.random);
  const expiresAt = tx.at + RESET_SECONDS;
  tx.orm
    .insert(pairCodes)
    .values({
      id: hexId(tx.random),
      hash: sha256(code),
      role,
      email,
      accountId,
      issuedBy: by,
      createdAt: tx.at,
      expiresAt,
    })
    .run();
  return { account_id: accountId, email, code, expires_at: expiresAt };
}

/** The codes that are unused and valid at `at`, newest first. */
export function listCodes(reader: Reader, at: number): PendingCode[] {
  return reader.orm
    .select({
      id: pairCodes.id,
      role: pairCodes.role,
      email: pairCodes.email,
      issued_by: pairCodes.issuedBy,
      created_at: pairCodes.createdAt,
      account_id: pairCodes.accountId,
      expires_at: pairCodes.expiresAt,
    })
    .from(pairCodes)
    .where(isLive(at))
    .orderBy(desc(pairCodes.createdAt), asc(pairCodes.id))
    .all();
}

/** Unused, and valid at `at`. */
function isLive(at: number) {
  return and(isNull(pairCodes.usedAt), gt(pairCodes.expiresAt, at));
}

/** Deletes codes that ended before `at`. */
export function sweepCodes(tx: Tx, at: number): void {
  tx.orm.delete(pairCodes).where(lt(pairCodes.expiresAt, at)).run();
}

/** Deletes a code that isn't redeemed. Throws 404 for any other. */
export function revokeCode(tx: Tx, id: string): void {
  const gone = tx.orm
    .delete(pairCodes)
    .where(and(eq(pairCodes.id, id), isLive(tx.at)))
    .run();
  if (gone.changes !== 1) throw notFound("pairing code");
}

/** A code that can be redeemed. */
interface LiveCode {
  id: string;
  role: Role;
  email: string | null;
  /** The account whose password the code sets; null: it makes an account. */
  resets: string | null;
}

interface Found extends LiveCode {
  issuedBy: string | null;
  /** Null for the operator, and for an account that was removed. */
  issuerRole: Role | null;
}

/** Codes that are unused and valid at `at`, with whoever issued them. */
function liveCodes(reader: Reader, at: number, where: SQL | undefined) {
  return reader.orm
    .select({
      id: pairCodes.id,
      role: pairCodes.role,
      email: pairCodes.email,
      resets: pairCodes.accountId,
      issuedBy: pairCodes.issuedBy,
      issuerRole: accounts.role,
    })
    .from(pairCodes)
    .leftJoin(accounts, eq(accounts.id, pairCodes.issuedBy))
    .where(and(where, isLive(at)));
}

/**
 * The code, if it can be redeemed at `at`, else null. It must be unused and valid, and its issuer must still be a
 * manager with at least the code's role (contract §3); for a password, at least the account's present role.
 */
export function findLiveCode(reader: Reader, code: string, at: number): LiveCode | null {
  const found: Found | undefined = liveCodes(reader, at, eq(pairCodes.hash, sha256(code))).get();
  if (found === undefined) return null;
  const { id, email, resets } = found;
  const role = resets === null ? found.role : getAccount(reader, resets).role;
  return isEntitled({ ...found, role }) ? { id, role, email, resets } : null;
}

/** The invitation for this address that is valid longest; null where there is none. */
export function findInvitation(reader: Reader, email: string, at: number): LiveCode | null {
  const invites = and(isNull(pairCodes.accountId), isNotNull(pairCodes.email));
  const waiting = liveCodes(reader, at, invites)
    .orderBy(asc(pairCodes.createdAt), asc(pairCodes.id))
    .all()
    .filter((code) => foldEmail(code.email ?? "") === foldEmail(email) && isEntitled(code));
  const [first, ...more] = waiting;
  if (first === undefined) return null;
  const { id, role } = more.reduce(
    (best, code) => (atLeast(best.role, code.role) ? best : code),
    first,
  );
  return { id, role, email, resets: null };
}

/** What a valid code offers. */
export interface Invited {
  role: Role;
  /** The only address that the code is for; null: any. */
  email: string | null;
  /** The issuer's name; null: the operator of the machine. */
  by: string | null;
  /** Whether the code sets the password of an existing account. */
  resets: boolean;
}

/** Reads a code without using it up; null for any code that can't be redeemed at `at`. */
export function lookAtCode(reader: Reader, code: string, at: number): Invited | null {
  const found = findLiveCode(reader, code, at);
  if (found === null) return null;
  const issuer = reader.orm
    .select({ name: accounts.displayName, email: accounts.email })
    .from(pairCodes)
    .innerJoin(accounts, eq(accounts.id, pairCodes.issuedBy))
    .where(eq(pairCodes.id, found.id))
    .get();
  const by = issuer === undefined ? null : issuer.name || issuer.email;
  return { role: found.role, email: found.email, by, resets: found.resets !== null };
}

function isEntitled({ issuedBy, issuerRole, role }: Found): boolean {
  if (issuedBy === null) return true;
  return issuerRole !== null && isManager(issuerRole) && atLeast(issuerRole, role);
}

/** Marks the code as used; false when another request was first. */
export function spendCode(tx: Tx, id: string): boolean {
  const spent = tx.orm
    .update(pairCodes)
    .set({ usedAt: tx.at })
    .where(and(eq(pairCodes.id, id), isLive(tx.at)))
    .run();
  return spent.changes === 1;
}

/**
 * A link with the code behind the `#`, which browsers never send to a server. It begins with the public URL, else with
 * the address at which the box last listened.
 */
export function pairLink(reader: Reader, publicUrl: string, code: string): string {
  const base = publicUrl === "" ? String(getMeta(reader, "base_url") ?? "") : publicUrl;
  return `${base}/pair#code=${code}`;
}

/** Stores the box's address, for links that another process makes. */
export function rememberBaseUrl(tx: Tx, url: string): void {
  if (getMeta(tx, "base_url") !== url) setMeta(tx, "base_url", url);
}
