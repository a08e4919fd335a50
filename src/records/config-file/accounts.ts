import * as z from "zod";
import { list, text } from "../../ground/kit/fields.ts";
import { type Account, emailField, roleField } from "../../people/account.ts";
import { foldEmail } from "../../people/email.ts";

/** The people of a configuration file. */

const filePerson = z.strictObject({
  email: emailField,
  display_name: text(128).optional(),
  role: roleField.default("member"),
});
/** A person without an account gets one, without a password. An existing account isn't changed. */
export type FilePerson = z.output<typeof filePerson>;

export const filePeople = list(filePerson, 10_000).superRefine((people, context) => {
  const seen = new Set<string>();
  for (const [i, { email }] of people.entries()) {
    const folded = foldEmail(email);
    const message = "is in the list twice";
    if (seen.has(folded)) context.addIssue({ code: "custom", path: [i, "email"], message });
    seen.add(folded);
  }
});

/** The people as a file contains them, without values that equal their defaults. */
export function compactPeople(accounts: readonly Account[]): object[] {
  return accounts.map(({ email, display_name, role }) => ({
    email,
    ...(display_name === email.slice(0, email.indexOf("@")) ? {} : { display_name }),
    ...(role === "member" ? {} : { role }),
  }));
}
