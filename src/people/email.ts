import { fits, isStorable } from "../ground/kit/text.ts";

const FORM = /^[^\s@"]{1,64}@[^\s@"]{1,255}$/u;
const INVISIBLE = /[\p{Cc}\p{Cf}]/u;

/** At most 320 characters (contract §19), 64 before the @ and 255 after it; none invisible. */
export function isEmail(text: string): boolean {
  return fits(text, 320) && isStorable(text) && FORM.test(text) && !INVISIBLE.test(text);
}

/**
 * Emails are one person's if they differ only in case (contract §3), or in how an accent is encoded (é as one character
 * or two), which nobody sees. NFC as RFC 6532 wants it: NFKC would also turn a ligature or a wide letter into a plain
 * one, and that can be another person's mailbox.
 */
export function foldEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}

/** Before an address where a person's id could stand: the account of this address. */
export const EMAIL_NAME = "email:";

/** The address that a text names so; null: it names none. */
export function addressNamed(text: string): string | null {
  return text.startsWith(EMAIL_NAME) && text.includes("@") ? text.slice(EMAIL_NAME.length) : null;
}
