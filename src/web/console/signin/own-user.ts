import { type Ends, isOwnUsers } from "../../../ground/kit/peer-user.ts";
import type { AppContext } from "../../http/raw-route.ts";
import { FORWARDED } from "../page-request.ts";

/** What a proxy adds to a request. */
const OF_PROXIES = [...FORWARDED, "via", "x-real-ip"];
/** Names that no other machine's page can have. */
const HERE: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a browser asks on this machine, as the user who runs the box, with nobody between: somebody who could read its
 * data directory as well.
 */
export function isOfOwnUser(c: AppContext, { publicUrl }: { publicUrl: string }): boolean {
  if (publicUrl !== "" || OF_PROXIES.some((name) => c.req.header(name) !== undefined)) return false;
  const { incoming } = c.env as { incoming?: { socket?: Ends } };
  return HERE.has(new URL(c.req.url).hostname) && isOwnUsers(incoming?.socket ?? {});
}
