import { ServiceError } from "./errors.ts";

/** The fields of a kind that say where its secrets are sent, and the secrets. */
export interface SentTo {
  /** The server and its protocol. */
  where: readonly string[];
  secrets: readonly string[];
}

type Values = Readonly<Record<string, string | undefined>>;

/**
 * Throws 422 missing_credential that names each stored secret which would be sent to a new address: a person who may
 * change an address must not learn the secrets by that. A secret that is empty in `given`, or not in it, stays as
 * stored.
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
  throw new ServiceError("missing_credential", "A new address needs the secrets again.", {
    details: again.map((field) => ({
      field: `/${field}`,
      reason: "must be given again: the stored one was given for another address",
    })),
  });
}

/** One spelling for each address. */
function placeOf(value = ""): string {
  return (URL.canParse(value) ? new URL(value).href : value.toLowerCase()).replace(/\/+$/, "");
}
