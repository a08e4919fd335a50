import { sameSecret } from "../kit/ids.ts";
import type { Sealer } from "../kit/sealer.ts";

/** What stands for having shown one message to one contact: a device gives it back without being signed in. */
export interface ShownRight {
  tenantId: string;
  contactId: string;
  /** The row of the first page that the message names; null: a test, which has none. */
  row: number | null;
  /** Unix seconds. */
  until: number;
}

const PURPOSE = "receipt";

const signed = ({ tenantId, contactId, row, until }: ShownRight): string =>
  JSON.stringify([tenantId, contactId, row, until]);

/** `{tenant}{contact}-{row}-{until}-{signature}`. It opens nothing else: it only says that something was shown. */
export function receiptOf(sealer: Sealer, right: ShownRight): string {
  const { tenantId, contactId, row, until } = right;
  const [signature] = sealer.macs(PURPOSE, signed(right));
  return `${tenantId}${contactId}-${(row ?? 0).toString(36)}-${until.toString(36)}-${signature}`;
}

const RECEIPT = /^([0-9a-f]{16})([0-9a-f]{16})-([0-9a-z]{1,11})-([0-9a-z]{1,8})-([\w-]{22})$/;

/** What a receipt says, where it was given out and its day isn't over; null for any other text. `now`: Unix seconds. */
export function readShown(sealer: Sealer, text: string, now: number): ShownRight | null {
  const [, tenantId = "", contactId = "", row36 = "", until36 = "", given = ""] =
    RECEIPT.exec(text) ?? [];
  const [row = 0, until = 0] = [row36, until36].map((digits) => Number.parseInt(digits, 36));
  const right = { tenantId, contactId, row: row === 0 ? null : row, until };
  const macs = sealer.macs(PURPOSE, signed(right));
  const isOurs = macs.map((mac) => sameSecret(mac, given)).includes(true) && tenantId !== "";
  return isOurs && until > now ? right : null;
}
