import { ServiceError } from "./errors.ts";

/** Which fields of a kind say where its secrets are sent, and which these secrets are. */
export interface SentTo {
  /** The server, and how it is spoken to. */
  where: readonly string[];
  secrets: readonly string[];
}

type Values = Readonly<Record<string, string | undefined>>;

/**
 * Throws 422 missing_credential naming each stored secret that would go to another place than it was given for: nobody who
 * may change an address gets to see by that what is never read again. What is blank or left out of `given` stays.
 */
export function mustGiveAgain(
  { where, secrets }: SentTo,
  { stored, given }: { stored: Values; given: Values },
): void {
  const goesElsewhere = where.some(
    (field) => given[field] && placeOf(given[field]) !== placeOf(stored[field]),
  );
  const again = secrets.filter((field) => stored[field] && !given[field]);
  if (!goesElsewhere || again.length === 0) return;
  throw new ServiceError("missing_credential", "Another address needs its secrets again.", {
    details: again.map((field) => ({
      field: `/${field}`,
      reason: "must be given again: what is stored was given for another address",
    })),
  });
}

/** The same for all ways to write one place. */
function placeOf(value = ""): string {
  return (URL.canParse(value) ? new URL(value).href : value.toLowerCase()).replace(/\/+$/, "");
}
