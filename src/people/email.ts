import { fits, isStorable } from "../ground/kit/text.ts";

const FORM = /^[^\s@"]{1,64}@[^\s@"]{1,255}$/u;
const INVISIBLE = /[\p{Cc}\p{Cf}]/u;

/** At most 320 characters (contract §19): 64 before the @, 255 after it; nothing that can't be seen. */
export function isEmail(text: string): boolean {
  return fits(text, 320) && isStorable(text) && FORM.test(text) && !INVISIBLE.test(text);
}

/**
 * Emails that differ in case only are one person's (contract §3), and so are those that differ in how an accent is
 * written (é as one character or as two), which nobody sees. NFC as RFC 6532 asks for; NFKC would also take a ligature
 * or a wide letter for the plain one, and those may be another person's mailbox.
 */
export function foldEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}
