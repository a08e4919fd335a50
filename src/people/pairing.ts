import * as z from "zod";
import { boolean, integer, text } from "../ground/kit/fields.ts";
import { emailField as email, passwordText, roleField } from "./account.ts";

/** The API's bodies and answers for pairing codes and their redemption (contract §15, Pairing). */

/** Seconds that a code is valid (contract §19). */
export const codeTtl = { least: 60, most: 604_800, usual: 3600 } as const;

const secret = z.string().meta({ description: "Shown this once." });

/** The body that redeems a code. */
export const pairWrite = z.strictObject({
  code: text(48, 48),
  password: passwordText.meta({
    description:
      "The account's password. It is set for a new account and for one whose reset link this is; other accounts must give the one they have.",
  }),
  email: email.optional().meta({
    description: "May be left out where the code was issued for one.",
  }),
  display_name: text(128).optional(),
});

/** What redeeming a code gives. Only this answer contains key and receipt. */
export const pairAnswer = z.object({
  api_key: secret,
  api_key_id: z.string(),
  box_account_id: z.string(),
  receipt: secret,
  tenant_id: z.string(),
});
export type Redemption = z.output<typeof pairAnswer>;

/** The body that issues a code that makes an account. */
export const codeWrite = z.strictObject({
  email: email.nullable().optional(),
  role: roleField.default("member"),
  ttl_seconds: integer(codeTtl.least, codeTtl.most).default(codeTtl.usual),
  mail: boolean.default(false).meta({
    description: "Send its link to the address. Needs `email`, and a gateway for mail.",
  }),
});

const code = {
  id: z.string(),
  role: roleField,
  email: z.string().nullable().meta({ description: "The one address it is for; null = any." }),
  expires_at: z.int(),
};

const issued = z.object({ ...code, code: secret });
/** An issued code: 48 lower-case hex characters, which only this answer contains. */
export type IssuedCode = z.output<typeof issued>;

export const codeIssued = issued.extend({
  link: z.string().meta({ description: "The link; the code comes after its #." }),
  mailed: z.boolean().optional().meta({
    description: "With `mail`: whether the mail server took it.",
  }),
  mail_error: z.string().optional().meta({
    description: "Why it didn't. The code is good all the same.",
  }),
});
export type Invitation = z.output<typeof codeIssued>;

/** A code that can still be redeemed, as it is listed. */
export const codePending = z.object({
  ...code,
  issued_by: z.string().nullable().meta({
    description: "Account id; null = on the box itself.",
  }),
  created_at: z.int(),
  account_id: z.string().nullable().meta({
    description: "The account whose password it sets; null where it makes an account.",
  }),
});
export type PendingCode = z.output<typeof codePending>;

/** A link that sets an account's password: valid once, for an hour. */
export const resetIssued = z.object({
  account_id: z.string(),
  email: z.string(),
  code: secret,
  link: z.string().meta({ description: "The link; the code comes after its #." }),
  expires_at: z.int(),
});
export type IssuedReset = z.output<typeof resetIssued>;

/** The account that a receipt belongs to. */
export const receiptAnswer = z.object({ box_account_id: z.string(), tenant_id: z.string() });
