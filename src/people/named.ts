import { eq, inArray } from "drizzle-orm";
import { accounts } from "../ground/store/schema.ts";
import type { Reader } from "../ground/store/store.ts";
import { addressNamed, foldEmail } from "./email.ts";

/** The id of the account named by `email:` and an address. Other text, and unknown addresses, stay as they are. */
function idOfNamed(reader: Reader, name: string): string {
  const address = addressNamed(name);
  if (address === null) return name;
  const row = reader.orm
    .select({ id: accounts.id })
    .from(accounts)
    .where(eq(accounts.emailFolded, foldEmail(address)))
    .get();
  return row?.id ?? name;
}

/** Replaces people's names by ids at places like `escalations.*.accounts.*` of a value. Copies only what it changes. */
export function withIds(reader: Reader, value: unknown, places: readonly string[]): unknown {
  return places.reduce((now, place) => replaced(reader, now, place.split(".")), value);
}

function replaced(reader: Reader, value: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return typeof value === "string" ? idOfNamed(reader, value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (step === "*")
    return Array.isArray(value) ? value.map((one) => replaced(reader, one, rest)) : value;
  const fields = value as Record<string, unknown>;
  return step in fields ? { ...fields, [step]: replaced(reader, fields[step], rest) } : value;
}

/** A person in an answer, with their email and name. */
interface NamedPerson {
  account_id: string;
  email: string;
}

/** The people of these ids who have an account, by email. */
export function namedPeople(reader: Reader, ids: readonly string[]): NamedPerson[] {
  const wanted = [...new Set(ids)];
  const found: NamedPerson[] = [];
  for (let from = 0; from < wanted.length; from += 500)
    found.push(
      ...reader.orm
        .select({ account_id: accounts.id, email: accounts.email })
        .from(accounts)
        .where(inArray(accounts.id, wanted.slice(from, from + 500)))
        .all(),
    );
  return found.toSorted((a, b) => (a.email < b.email ? -1 : 1));
}
