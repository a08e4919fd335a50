import { z } from "zod";
import { list, text } from "../../ground/kit/fields.ts";
import { type Account, emailField, roleField } from "../../people/account.ts";
import { foldEmail } from "../../people/email.ts";

/** Who belongs to the box, in a file. */

const filePerson = z.strictObject({
  email: emailField,
  display_name: text(128).optional(),
  role: roleField.default("member"),
});
/** Whoever isn't there gets an account without a password; an account that is there stays as it is. */
export type FilePerson = z.output<typeof filePerson>;

export const filePeople = list(filePerson, 10_000).superRefine((people, context) => {
  const seen = new Set<string>();
  for (const [i, { email }] of people.entries()) {
    const folded = foldEmail(email);
    const message = "is there twice";
    if (seen.has(folded)) context.addIssue({ code: "custom", path: [i, "email"], message });
    seen.add(folded);
  }
});

/** As they stand in a file; what is at its default is left out. */
export function compactPeople(accounts: readonly Account[]): object[] {
  return accounts.map(({ email, display_name, role }) => ({
    email,
    ...(display_name === email.slice(0, email.indexOf("@")) ? {} : { display_name }),
    ...(role === "member" ? {} : { role }),
  }));
}
