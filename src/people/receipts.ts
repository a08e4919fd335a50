import { and, eq, gt, isNull, lt, lte } from "drizzle-orm";
import { ServiceError } from "../ground/kit/errors.ts";
import { hexSecret, sha256 } from "../ground/kit/ids.ts";
import { pairReceipts } from "../ground/store/schema.ts";
import type { Tx } from "../ground/store/store.ts";

/** Seconds that a receipt is valid (contract §3). */
const RECEIPT_SECONDS = 600;

/** Issues a receipt, which proves once that its bearer is this account (contract §15, Pairing rule 1). */
export function issueReceipt(tx: Tx, accountId: string): string {
  const receipt = hexSecret(tx.random);
  tx.orm.delete(pairReceipts).where(lte(pairReceipts.expiresAt, tx.at)).run();
  tx.orm
    .insert(pairReceipts)
    .values({ hash: sha256(receipt), accountId, expiresAt: tx.at + RECEIPT_SECONDS })
    .run();
  return receipt;
}

/** The account of a receipt, which this uses up. Throws the same 400 for every other text. */
export function verifyReceipt(tx: Tx, receipt: string): string {
  const spent = tx.orm
    .update(pairReceipts)
    .set({ usedAt: tx.at })
    .where(
      and(
        eq(pairReceipts.hash, sha256(receipt)),
        isNull(pairReceipts.usedAt),
        gt(pairReceipts.expiresAt, tx.at),
      ),
    )
    .returning({ accountId: pairReceipts.accountId })
    .get();
  if (spent !== undefined) return spent.accountId;
  throw new ServiceError("receipt_refused", "The receipt is unknown, spent or too old.");
}

/** Deletes receipts that ended before `at`. */
export function sweepReceipts(tx: Tx, at: number): void {
  tx.orm.delete(pairReceipts).where(lt(pairReceipts.expiresAt, at)).run();
}
