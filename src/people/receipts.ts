import { ServiceError } from "../kit/errors.ts";
import { hexSecret, sha256 } from "../kit/ids.ts";
import type { Tx } from "../store/store.ts";

/** Seconds that a receipt is good for (decisions §3). */
const RECEIPT_SECONDS = 600;

/** A receipt of a redemption: it proves once that its bearer is this account (api §4, Pairing rule 1). */
export function issueReceipt(tx: Tx, accountId: string): string {
  const receipt = hexSecret(tx.random);
  tx.sql("DELETE FROM pair_receipts WHERE expires_at <= ?").run(tx.at);
  tx.sql("INSERT INTO pair_receipts (hash, account_id, expires_at) VALUES (?, ?, ?)").run(
    sha256(receipt),
    accountId,
    tx.at + RECEIPT_SECONDS,
  );
  return receipt;
}

const SPEND = `UPDATE pair_receipts SET used_at = @at WHERE hash = @hash AND used_at IS NULL AND expires_at > @at
  RETURNING account_id`;

/** The account a receipt stands for; it is spent with this. Throws one constant 400 for every other text. */
export function verifyReceipt(tx: Tx, receipt: string): string {
  const accountId = tx
    .sql(SPEND)
    .pluck()
    .get({ at: tx.at, hash: sha256(receipt) }) as string | undefined;
  if (accountId !== undefined) return accountId;
  throw new ServiceError("receipt_refused", "The receipt is unknown, spent or too old.");
}
