import * as z from "zod";
import { text } from "../ground/kit/fields.ts";
import { isEmail } from "./email.ts";
import { roles } from "./roles.ts";

/** The API's bodies and answers for accounts and keys (contract §3). */

export const roleField = z.enum(roles, { error: `must be one of ${roles.join(", ")}` });

export const accountAnswer = z
  .object({
    id: z.string().meta({ description: "What ladders, schedules and overrides name." }),
    email: z.string(),
    display_name: z.string(),
    role: roleField,
    created_at: z.int(),
    timezone: z.string().nullable().meta({
      description: "The zone of their nights, by their own word; null: the tenant's.",
    }),
  })
  .meta({ id: "Account" });
export type Account = z.output<typeof accountAnswer>;

export const emailField = z
  .string()
  .refine(isEmail, { error: "must be an e-mail address of at most 320 characters" })
  .meta({ format: "email", maxLength: 320 });

/** The body that makes an account without a password. */
export const accountWrite = z.strictObject({
  email: emailField,
  display_name: text(128).optional().meta({
    description: "Left out: the email's part before the @.",
  }),
  role: roleField.default("member"),
});
export type AccountWrite = z.output<typeof accountWrite>;

/** The body that changes an account. A field that is left out stays as it is. */
export const accountChange = z.strictObject({
  display_name: text(128).optional(),
  role: roleField.optional(),
});

/** An API key as the API lists it. The key itself is never stored. */
export const keyAnswer = z
  .object({
    id: z.string(),
    account_id: z.string(),
    label: z.string().meta({ description: "What its owner calls it." }),
    hint: z.string().meta({ description: "The key's last four characters." }),
    created_at: z.int(),
    last_used_at: z.int().nullable().meta({ description: "To the minute." }),
  })
  .meta({ id: "Key" });
export type Key = z.output<typeof keyAnswer>;

/** The body that creates a key for the caller. */
export const keyWrite = z.strictObject({
  label: text(128).default("").describe("What it is for, to tell it from others."),
});

export const keyMade = z.object({
  id: z.string(),
  key: z.string().meta({ description: "Shown this once." }),
});

export const passwordText = text(72, 8);

/** The body that changes the caller's password. */
export const passwordWrite = z.strictObject({ old: text(72), new: passwordText });
