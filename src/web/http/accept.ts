import { parseAccept } from "hono/utils/accept";

/** Ranges that are looked at. */
const MOST_RANGES = 32;

/**
 * Whether an `Accept` header asks for JSON rather than a page (RFC 9110 §12.5.1): it names
 * `application/json`, and nothing that a page would be sent as is wanted as much. A browser and a
 * client that takes anything get the page. Hono's `accepts` would give JSON to who names both alike.
 */
export function prefersJson(accept: string | undefined): boolean {
  const weights = new Map<string, number>();
  const ranges = (accept ?? "").split(",", MOST_RANGES).join(",");
  for (const { type, params, q } of parseAccept(ranges)) {
    const isWeight = Number(params["q"] ?? params["Q"] ?? 1) === q;
    weights.set(type.toLowerCase(), isWeight ? q : 0);
  }
  const json = weights.get("application/json") ?? 0;
  const page = weights.get("text/html");
  if (json === 0) return false;
  // A wildcard names the page no more than it names JSON.
  return page === undefined
    ? json >= (weights.get("text/*") ?? weights.get("*/*") ?? 0)
    : json > page;
}

/** Whether an `Accept` header asks for a page: a browser does, and no program that takes anything. */
export const wantsPage = (accept = ""): boolean =>
  /\btext\/html\b/.test(accept) && !prefersJson(accept);
