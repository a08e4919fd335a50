import { json } from "../http/answer.ts";
import { changesAfter, changesStream } from "../http/changes-stream.ts";
import type { AppContext } from "../http/raw-route.ts";
import { unixSeconds } from "../kit/clock.ts";
import type { Tenant } from "../tenant/tenant.ts";

/** Seconds that a poll may wait. */
const LONGEST_WAIT = 60;

/** As the pages that they are for say it: what countdowns go by. */
function withNow(answer: Response, { clock }: Tenant): Response {
  answer.headers.set("X-Now", String(unixSeconds(clock) * 1000));
  return answer;
}

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
    return withNow(changesStream(tenant, { key, since, signal }), tenant);
  const wait = Number(c.req.query("wait") ?? 0);
  const seconds = Number.isFinite(wait) ? Math.min(Math.max(0, wait), LONGEST_WAIT) : 0;
  const page = await changesAfter(tenant, { key, since, signal }, seconds);
  return withNow(json(200, page), tenant);
}
