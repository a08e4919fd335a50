import { eq } from "drizzle-orm";
import { unixSeconds } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import { hexId } from "../ground/kit/ids.ts";
import type { Passwords } from "../ground/kit/password.ts";
import type { Role } from "../ground/store/columns.ts";
import { accounts } from "../ground/store/schema.ts";
import type { Reader, Store, Tx } from "../ground/store/store.ts";
import { addNewcomer } from "./accounts.ts";
import { findLiveCode, spendCode } from "./codes.ts";
import { foldEmail } from "./email.ts";
import { isInvited } from "./invited.ts";
import { mintKey } from "./keys.ts";
import type { Redemption } from "./pairing.ts";
import { replacePassword } from "./passwords.ts";
import { issueReceipt } from "./receipts.ts";
import { atLeast, higher } from "./roles.ts";

/** What somebody sends to redeem a code. */
export interface SeatClaim {
  code: string;
  password: string;
  /** Null: the email that the code was issued for. */
  email: string | null;
  /** Null: the part of the email before the @. */
  displayName: string | null;
}

/** A code that is valid for this email, and the account that has the email already. */
interface Seat {
  codeId: string;
  role: Role;
  email: string;
  /** Whether the code sets the account's password: a code for that, or an invitation of an invited account. */
  resets: boolean;
  account: { id: string; role: Role; passwordHash: string } | null;
}

/**
 * Redeems a pairing code (contract §3) for an API key and a receipt. A new email makes an account with the code's role.
 * An existing account needs its password; it keeps the higher role and gets another key. A code for a password, or an
 * invitation for the address of an invited account, sets the password. Throws as claimSeat does.
 */
export function redeem(
  { tenantId, ...parts }: { store: Store; tenantId: string; passwords: Passwords },
  claim: SeatClaim,
): Promise<Redemption> {
  return claimSeat(parts, claim, (tx, accountId) => grantKey(tx, tenantId, accountId));
}

/**
 * Redeems a code and calls `grant` for its account in the same transaction.
 *
 * Every failure throws the same 401 after the same work, one argon2, and uses nothing up. argon2 can't run inside a
 * transaction, so the transaction checks everything again.
 */
export async function claimSeat<T>(
  { store, passwords }: { store: Store; passwords: Passwords },
  claim: SeatClaim,
  grant: (tx: Tx, accountId: string) => T,
): Promise<T> {
  const seat = findSeat(store, claim, unixSeconds(store.clock));
  const passwordHash = await prove(passwords, claim.password, seat);
  if (seat !== null && passwordHash !== null) {
    const taken = store.write((tx) => {
      const accountId = takeSeat(tx, { claim, seat, passwordHash });
      return accountId === null ? null : { granted: grant(tx, accountId) };
    });
    if (taken !== null) return taken.granted;
  }
  throw new ServiceError("pairing_refused", "The pairing was not accepted.");
}

/** Creates an API key and its receipt. */
export function grantKey(tx: Tx, tenantId: string, accountId: string): Redemption {
  const key = mintKey(tx, tenantId, accountId);
  return {
    api_key: key.key,
    api_key_id: key.id,
    box_account_id: accountId,
    receipt: issueReceipt(tx, accountId),
    tenant_id: tenantId,
  };
}

function findSeat(reader: Reader, claim: SeatClaim, at: number): Seat | null {
  const code = findLiveCode(reader, claim.code, at);
  const email = claim.email ?? code?.email ?? null;
  if (code === null || email === null) return null;
  if (code.email !== null && foldEmail(code.email) !== foldEmail(email)) return null;
  const account = reader.orm
    .select({ id: accounts.id, role: accounts.role, passwordHash: accounts.passwordHash })
    .from(accounts)
    .where(eq(accounts.emailFolded, foldEmail(email)))
    .get();
  const isFirst = account !== undefined && code.email !== null && isInvited(reader, account.id);
  const resets = code.resets !== null || (isFirst && atLeast(code.role, account.role));
  return { codeId: code.id, role: code.role, email, resets, account: account ?? null };
}

/** The password hash that the account has or gets; null where the password is wrong or the code is invalid. */
async function prove(
  passwords: Passwords,
  password: string,
  seat: Seat | null,
): Promise<string | null> {
  if (seat !== null && (seat.account === null || seat.resets)) return passwords.hash(password);
  const kept = seat?.account?.passwordHash ?? null;
  return (await passwords.verify(password, kept)) ? kept : null;
}

/** The code's account; null where something changed meanwhile. */
function takeSeat(
  tx: Tx,
  seen: { claim: SeatClaim; seat: Seat; passwordHash: string },
): string | null {
  const { claim, passwordHash } = seen;
  const seat = findSeat(tx, claim, tx.at);
  const isSame =
    seat?.account?.passwordHash === seen.seat.account?.passwordHash &&
    seat?.resets === seen.seat.resets;
  if (seat === null || !isSame || !spendCode(tx, seat.codeId)) return null;
  const accountId = seat.account?.id ?? hexId(tx.random);
  if (seat.account === null) {
    const { email, role } = seat;
    addNewcomer(tx, {
      id: accountId,
      email,
      role,
      passwordHash,
      displayName: claim.displayName,
    });
  } else {
    const role = higher(seat.account.role, seat.role);
    tx.orm.update(accounts).set({ role }).where(eq(accounts.id, accountId)).run();
    if (seat.resets) replacePassword(tx, { accountId, hash: passwordHash, kept: null });
  }
  tx.note({ topic: "people" });
  return accountId;
}
