import { notFound } from "../kit/errors.ts";
import { hexId, hexSecret, sha256 } from "../kit/ids.ts";
import { getMeta, setMeta } from "../store/meta.ts";
import type { Role } from "../store/schema.ts";
import type { Reader, Tx } from "../store/store.ts";
import { type By, mustGrant } from "./accounts.ts";
import type { IssuedCode, PendingCode } from "./pairing.ts";
import { atLeast, isManager } from "./roles.ts";

/** Issues a code for a seat (api §4, Pairing rule 3). Throws 403 unless `by` manages and ranks at least as high. */
export function issueCode(
  tx: Tx,
  by: By,
  seat: { role: Role; email: string | null; ttlSeconds: number },
): IssuedCode {
  mustGrant(tx, by, seat.role);
  const { role, email } = seat;
  const id = hexId(tx.random);
  const code = hexSecret(tx.random);
  const expiresAt = tx.at + seat.ttlSeconds;
  tx.sql("DELETE FROM pair_codes WHERE expires_at <= ?").run(tx.at);
  tx.sql(
    `INSERT INTO pair_codes (id, hash, role, email, issued_by, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
  ).run(id, sha256(code), role, email, by, tx.at, expiresAt);
  return { id, code, role, email, expires_at: expiresAt };
}

/** The codes that are neither used nor over at `at`, newest first. */
export function listCodes(reader: Reader, at: number): PendingCode[] {
  return reader
    .sql(
      `SELECT id, role, email, issued_by, created_at, expires_at FROM pair_codes
       WHERE used_at IS NULL AND expires_at > ? ORDER BY created_at DESC, id`,
    )
    .all(at) as PendingCode[];
}

/** Takes a code back before it is redeemed. Throws 404 for any other. */
export function revokeCode(tx: Tx, id: string): void {
  const gone = tx
    .sql("DELETE FROM pair_codes WHERE id = ? AND used_at IS NULL AND expires_at > ?")
    .run(id, tx.at);
  if (gone.changes !== 1) throw notFound("pairing code");
}

/** A code that may be redeemed. */
export interface LiveCode {
  id: string;
  role: Role;
  email: string | null;
}

const FIND = `SELECT c.id, c.role, c.email, c.issued_by AS issuedBy, a.role AS issuerRole
  FROM pair_codes c LEFT JOIN accounts a ON a.id = c.issued_by
  WHERE c.hash = ? AND c.used_at IS NULL AND c.expires_at > ?`;

interface Found extends LiveCode {
  issuedBy: string | null;
  /** Null for the operator, and for an account that was removed. */
  issuerRole: Role | null;
}

/**
 * The code, if it can be redeemed at `at`: unused, not over, and its issuer still a manager who ranks at
 * least as high as its role (decisions §3). Else null, whatever the reason.
 */
export function findLiveCode(reader: Reader, code: string, at: number): LiveCode | null {
  const found = reader.sql(FIND).get(sha256(code), at) as Found | undefined;
  if (found === undefined || !isEntitled(found)) return null;
  return { id: found.id, role: found.role, email: found.email };
}

function isEntitled({ issuedBy, issuerRole, role }: Found): boolean {
  if (issuedBy === null) return true;
  return issuerRole !== null && isManager(issuerRole) && atLeast(issuerRole, role);
}

/** Marks the code used; false when somebody else was first. */
export function spendCode(tx: Tx, id: string): boolean {
  const spent = tx
    .sql(
      "UPDATE pair_codes SET used_at = @at WHERE id = @id AND used_at IS NULL AND expires_at > @at",
    )
    .run({ at: tx.at, id });
  return spent.changes === 1;
}

/**
 * A link that carries the code behind the `#`, which browsers never send to a server. It begins with
 * the public URL, else with the address that the box last listened on.
 */
export function pairLink(reader: Reader, publicUrl: string, code: string): string {
  const base = publicUrl === "" ? String(getMeta(reader, "base_url") ?? "") : publicUrl;
  return `${base}/pair#code=${code}`;
}

/** Keeps where the box can be reached, for links made by another process. */
export function rememberBaseUrl(tx: Tx, url: string): void {
  if (getMeta(tx, "base_url") !== url) setMeta(tx, "base_url", url);
}
