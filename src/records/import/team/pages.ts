import type { GivenFields } from "../unread.ts";

/** What the URL of a list's page points to: its path, and the page or offset in the query. */
function placeOf(address: unknown): { path: string; at: number; step: number } | null {
  const url = typeof address === "string" ? URL.parse(address) : null;
  if (url === null) return null;
  const [page, limit] = ["page", "limit"].map((name) => Number(url.searchParams.get(name)));
  const path = url.pathname;
  if (url.searchParams.has("offset") || limit)
    return { path, at: Number(url.searchParams.get("offset")), step: limit || 100 };
  return { path, at: page || 1, step: 1 };
}

/** Whether this answer is the page at `next`: `previous` is one page before it, or `last` is it. */
export function comesNext(next: unknown, { previous, last }: GivenFields): boolean {
  const [wanted, before, end] = [placeOf(next), placeOf(previous), placeOf(last)];
  if (wanted === null) return false;
  if (before !== null) return before.path === wanted.path && before.at + wanted.step === wanted.at;
  return end !== null && end.path === wanted.path && end.at === wanted.at;
}
