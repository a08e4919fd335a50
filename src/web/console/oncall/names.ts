import type { Reader } from "../../../ground/store/store.ts";
import { listAccounts } from "../../../people/accounts.ts";

/** By id, as others see them; who is gone is "somebody who was removed". */
export type PeopleNames = (account: string | null) => string;

export function peopleNames(reader: Reader): PeopleNames {
  const names = new Map(
    listAccounts(reader).map(({ id, display_name, email }) => [id, display_name || email]),
  );
  return (account) =>
    account === null ? "nobody" : (names.get(account) ?? "somebody who was removed");
}

/** "AO" for Ann Other, "A" for Ann. */
export function initials(name: string): string {
  const words = name.split(/[\s@._-]+/).filter((word) => word !== "");
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase();
}
