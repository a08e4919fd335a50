import { hash } from "node:crypto";

/**
 * What tells one message from all others: the row that it names first, and a sum over all that it names. Attempts at a message
 * have the same first row, and what became due meanwhile goes along: only the sum tells what a link or a receipt was sent with.
 */
export type MessageName = ReturnType<typeof messageName>;

/** The name of a message that is about these rows, oldest first. */
export function messageName(rows: readonly [{ id: number }, ...{ id: number }[]]) {
  return { lead: rows[0].id, sum: sumOf(rows) };
}

/** Of the rows that went with `lead` in whichever attempt those that this message named, as far as that is sure: else the first alone. */
export function namedIn<R extends { id: number }>(
  rows: readonly R[],
  { lead, sum }: MessageName,
): readonly R[] {
  return sumOf(rows) === sum ? rows : rows.filter(({ id }) => id === lead);
}

const SUM_LENGTH = 4;

/** It only tells attempts at one message apart, and is signed where that matters. */
function sumOf(rows: readonly { id: number }[]): string {
  const ids = rows.map(({ id }) => id).sort((a, b) => a - b);
  return lettersOf(hash("sha256", ids.join(), "buffer").subarray(0, SUM_LENGTH));
}

/** Lower case, since texts come back in any; none of these is taken for another. */
const LETTERS = "abcdefghijkmnpqrstuvwxyz23456789";

/** A letter or digit for each byte, five bits of it. */
export function lettersOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => LETTERS[byte % 32]).join("");
}

/** What stands for a capability where room is short: 60 bits. */
export const HANDLE_LENGTH = 12;

/** A row's handle, as the message shows it that names the row first. */
export function shownHandle(handle: string, { sum }: MessageName): string {
  return handle + sum;
}

/** The row's handle, and the message's sum; null where the handle alone was given: the message as it was delivered. */
export function readHandle(text: string): { handle: string; sum: string | null } {
  const sum = text.slice(HANDLE_LENGTH);
  return { handle: text.slice(0, HANDLE_LENGTH), sum: sum === "" ? null : sum };
}
