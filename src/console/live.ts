import { json } from "../http/answer.ts";
import { changesAfter, changesStream } from "../http/changes-stream.ts";
import type { AppContext } from "../http/raw-route.ts";
import type { Tenant } from "../tenant/tenant.ts";

/** Seconds that a poll may wait. */
const LONGEST_WAIT = 60;

/** Names of what changed, for open pages: a stream, or with `wait` one answer. What changed is asked for by its page. */
export async function liveAnswer(
  c: AppContext,
  tenant: Tenant,
  sessionId: string,
): Promise<Response> {
  const key = `session ${sessionId}`;
  const { signal } = c.req.raw;
  const since = c.req.header("last-event-id") ?? c.req.query("since") ?? null;
  if (c.req.header("accept")?.includes("text/event-stream"))
    return changesStream(tenant, { key, since, signal });
  const wait = Number(c.req.query("wait") ?? 0);
  const seconds = Number.isFinite(wait) ? Math.min(Math.max(0, wait), LONGEST_WAIT) : 0;
  return json(200, await changesAfter(tenant, { key, since, signal }, seconds));
}
