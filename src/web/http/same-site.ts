/**
 * Whether a POST comes from a page of this box. Browsers say so themselves: by `Sec-Fetch-Site` where the page came by
 * https or from this machine, and by `Origin` elsewhere. Neither, or `null`, is a stranger's.
 */
export function isOwnPost(
  headers: { site: string | undefined; origin: string | undefined },
  own: readonly string[],
): boolean {
  if (headers.site !== undefined) return headers.site === "same-origin";
  return headers.origin !== undefined && own.includes(headers.origin);
}
