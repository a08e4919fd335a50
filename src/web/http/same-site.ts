import { ServiceError } from "../../ground/kit/errors.ts";

interface SaidByBrowser {
  site: string | undefined;
  origin: string | undefined;
}

/**
 * Throws 403 unless a POST comes from a page of this box. Browsers say so themselves: by `Sec-Fetch-Site` where the page came by
 * https or from this machine, and by `Origin` elsewhere. Neither, or `null`, is a stranger's.
 */
export function mustBeOwnPost({ site, origin }: SaidByBrowser, own: readonly string[]): void {
  const isOwn =
    site === undefined ? origin !== undefined && own.includes(origin) : site === "same-origin";
  if (isOwn) return;
  throw new ServiceError(
    "forbidden",
    "This form was sent from a page that is not the box's: open the box's page again, and send it from there. If it was the box's own page, --public-url has to be the address that the browser shows.",
  );
}
