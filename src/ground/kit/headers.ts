import type { ErrorDetail } from "./errors.ts";

/** Headers that the client writes itself, that change the connection, or that only signing may set. */
const REFUSED =
  /^(host|content-length|transfer-encoding|connection|keep-alive|te|trailer|upgrade|expect|proxy-.*|x-service-.*|webhook-.*)$/;
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;
const VALUE = /^[\t\x20-\x7e]{0,4096}$/;

/**
 * The faults of headers that a person wants to be sent (contract §6, Runbook actions): names and values that a header
 * can't have (RFC 9110 §5), names that nobody may set, and one name in two spellings. No fault repeats a value, because
 * values may be secrets.
 */
export function checkHeaders(headers: Readonly<Record<string, string>>): ErrorDetail[] {
  const seen = new Set<string>();
  const details: ErrorDetail[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const reason = headerFault(name.toLowerCase(), value, seen);
    const pointer = name.replaceAll("~", "~0").replaceAll("/", "~1");
    if (reason !== null) details.push({ field: `/headers/${pointer}`, reason });
    seen.add(name.toLowerCase());
  }
  return details;
}

function headerFault(name: string, value: string, seen: ReadonlySet<string>): string | null {
  if (!NAME.test(name)) return "header_name";
  if (REFUSED.test(name)) return "header_refused";
  if (seen.has(name)) return "header_twice";
  return VALUE.test(value) ? null : "header_value";
}
