import { type ErrorDetail, ServiceError } from "../../ground/kit/errors.ts";
import type { Reader } from "../../ground/store/store.ts";
import { listAccounts } from "../../people/accounts.ts";
import { foldEmail } from "../../people/email.ts";

/** The tenant's people, by id and by email. */
export type People = ReturnType<typeof peopleOf>;

export function peopleOf(reader: Reader) {
  const rows = listAccounts(reader);
  const emails = new Map(rows.map(({ id, email }) => [id, email]));
  const ids = new Map(rows.map(({ id, email }) => [foldEmail(email), id]));
  return {
    /** The id itself where nobody has it any more. */
    emailOf: (id: string) => emails.get(id) ?? id,
    idOf: (email: string) => ids.get(foldEmail(email)),
  };
}

/** The ids of people named by email; null stays. Throws 422 that lists unknown emails, below `field`. */
export function idsOf(people: People, emails: readonly string[], field: string): string[];
export function idsOf(
  people: People,
  emails: readonly (string | null)[],
  field: string,
): (string | null)[];
export function idsOf(people: People, emails: readonly (string | null)[], field: string) {
  const strangers = emails.flatMap((email, i): ErrorDetail[] =>
    email !== null && people.idOf(email) === undefined
      ? [{ field: `${field}/${i}`, reason: "not_a_member", value: email }]
      : [],
  );
  if (strangers.length > 0)
    throw new ServiceError(
      "not_a_member",
      "The file names people who have no account here: list them under people, or invite them.",
      {
        details: strangers,
      },
    );
  return emails.map((email) => email && (people.idOf(email) ?? ""));
}
