import { unixSeconds } from "../../ground/kit/clock.ts";
import { ServiceError } from "../../ground/kit/errors.ts";
import { isSession } from "../../people/sessions.ts";
import { PAGES } from "../../tenant/change-listeners.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { json } from "../http/answer.ts";
import { changesAfter, changesStream } from "../http/changes-stream.ts";
import type { AppContext } from "../http/raw-route.ts";

/** Names of what changed, for open pages: a stream, or with `wait` one answer. What changed is asked for by its page. */
export type Live = (c: AppContext, sessionId: string) => Promise<Response>;

/** Topics of what comes in all the time, which is told only while a page shows it. */
const EVENTS_WATCHED = /(?:^|,)(?:source|lines):/;
/** Seconds that a poll may wait. */
const LONGEST_WAIT = 60;
/** Of one session: a browser holds one for each page that is seen. Who gets no stream asks by polls. */
const MOST = { stream: 8, poll: 64 } as const;

/** They end with their session, at once: whoever was signed out is told nothing more. */
export function createLive(tenant: Tenant): Live {
  const open = new Map<string, Map<AbortController, keyof typeof MOST>>();
  tenant.store.onCommit((notes) => {
    if (open.size === 0 || !notes.some(({ topic }) => topic === "people")) return;
    const now = unixSeconds(tenant.clock);
    for (const [sessionId, readers] of open)
      if (!isSession(tenant.store, sessionId, now))
        for (const reader of [...readers.keys()]) reader.abort();
  });

  /** A signal that aborts with the request or the session. Throws 429 for one too many. */
  const opened = (
    sessionId: string,
    how: keyof typeof MOST,
    request: AbortSignal,
  ): AbortController => {
    const readers = open.get(sessionId) ?? new Map<AbortController, keyof typeof MOST>();
    if ([...readers.values()].filter((one) => one === how).length >= MOST[how])
      throw new ServiceError("overloaded", "Too many pages of this browser wait.", {
        retryAfter: 5,
      });
    const own = new AbortController();
    open.set(sessionId, readers.set(own, how));
    request.addEventListener("abort", () => own.abort(), { once: true });
    own.signal.addEventListener("abort", () => close(sessionId, own), { once: true });
    return own;
  };
  const close = (sessionId: string, own: AbortController) => {
    const readers = open.get(sessionId);
    readers?.delete(own);
    if (readers?.size === 0) open.delete(sessionId);
  };

  return async (c, sessionId) => {
    const watch = c.req.query("watch") ?? "";
    const of = { key: `session ${sessionId}`, pace: PAGES, ...watched(watch) };
    const since = c.req.header("last-event-id") ?? c.req.query("since") ?? null;
    const isStream = c.req.header("accept")?.includes("text/event-stream") ?? false;
    const own = opened(sessionId, isStream ? "stream" : "poll", c.req.raw.signal);
    const { signal } = own;
    const leave = EVENTS_WATCHED.test(watch) ? tenant.changes.watchEvents() : () => {};
    signal.addEventListener("abort", leave, { once: true });
    if (isStream) return withNow(changesStream(tenant, { ...of, since, signal }), tenant);
    const wait = Number(c.req.query("wait") ?? 0);
    const seconds = Number.isFinite(wait) ? Math.min(Math.max(0, wait), LONGEST_WAIT) : 0;
    const page = await changesAfter(tenant, { ...of, since, signal }, seconds).finally(leave);
    close(sessionId, own);
    return withNow(json(200, page), tenant);
  };
}

/** Names that a page shows, apart by commas, the last part of one may be `*`; all where it says none. */
function watched(watch: string): { watches?: (topic: string) => boolean } {
  const names = watch.split(",").filter((name) => name !== "");
  if (names.length === 0) return {};
  const whole = new Set(names);
  const begins = names.flatMap((name) => (name.endsWith("*") ? [name.slice(0, -1)] : []));
  return { watches: (topic) => whole.has(topic) || begins.some((one) => topic.startsWith(one)) };
}

/** As the pages that they are for say it: what countdowns go by. */
function withNow(answer: Response, { clock }: Tenant): Response {
  answer.headers.set("X-Now", String(Math.floor(clock.now())));
  return answer;
}
