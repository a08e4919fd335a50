import { z } from "zod";
import { ServiceError } from "../../kit/errors.ts";
import { text } from "../../kit/fields.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import { queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** Which things changed (contract §30). */
export const changesRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/changes",
    name: "listChanges",
    tag: "Changes",
    summary:
      "Names of what changed since the given answer's next; with wait, parks until something does; as a stream with Accept: text/event-stream",
    plane: "api",
    additive: true,
    noHead: true,
    wantsHeaders: ["accept", "last-event-id"],
    query: z.strictObject({
      since: text(40).optional(),
      wait: queryInteger(0, 60).optional(),
    }),
    status: 200,
    answer: z.object({
      next: z.string(),
      reset: z.boolean().meta({ description: "Read everything once: what changed isn't known." }),
      topics: z.array(z.string()),
    }),
    errors: ["invalid_request", "overloaded"],
    async handle({ tenant, query, actor, signal, headers }) {
      const { changes } = tenant;
      if (headers["accept"]?.includes("text/event-stream"))
        return stream(tenant, {
          ...{ key: actor.keyId, signal },
          since: headers["last-event-id"] ?? query.since ?? null,
        });
      const since = query.since ?? null;
      const first = changes.after(since);
      const ms = (query.wait ?? 0) * 1000;
      if (first.reset || first.topics.length > 0 || ms === 0) return first;
      await new Promise<void>((resolve) => {
        const leave = changes.listen(`poll ${actor.keyId}`, done);
        const cancel = leave === null ? null : tenant.clock.after(ms, done);
        function done() {
          leave?.();
          cancel?.();
          signal.removeEventListener("abort", done);
          resolve();
        }
        if (leave === null || signal.aborted) done();
        else signal.addEventListener("abort", done, { once: true });
      });
      return changes.after(since);
    },
  }),
];

/** A word at least this often, so that nobody takes the stream for dead, in milliseconds. */
const BEAT_MS = 15_000;
/** Bytes that a reader may leave lying before it is let go: it comes back and asks what it missed. */
const MOST_UNREAD = 64 * 1024;

function stream(
  { changes, clock }: Tenant,
  { key, since, signal }: { key: string; since: string | null; signal: AbortSignal },
): Response {
  const bytes = new TextEncoder();
  let at = since;
  let leave: (() => void) | null = null;
  let cancel = () => {};
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const end = () => {
    leave?.();
    cancel();
    signal.removeEventListener("abort", end);
    const open = controller;
    controller = undefined;
    open?.close();
  };
  const say = (words: string) => {
    controller?.enqueue(bytes.encode(words));
    if ((controller?.desiredSize ?? 0) < -MOST_UNREAD) end();
  };
  const catchUp = () => {
    const { next, reset, topics } = changes.after(at);
    at = next;
    const event = reset ? "reset" : "change";
    if (reset || topics.length > 0)
      say(`id: ${next}\nevent: ${event}\ndata: ${JSON.stringify({ topics })}\n\n`);
  };
  const beat = () => {
    cancel = clock.after(BEAT_MS, beat);
    say(": \n\n");
  };
  leave = changes.listen(key, (over) => {
    if (!over) return catchUp();
    say("event: bye\ndata: {}\n\n");
    end();
  });
  if (leave === null)
    throw new ServiceError("overloaded", "Too many streams: ask with wait.", { retryAfter: 5 });
  signal.addEventListener("abort", end, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      start(own) {
        controller = own;
        say("retry: 2000\n\n");
        catchUp();
        cancel = clock.after(BEAT_MS, beat);
      },
      cancel() {
        controller = undefined;
        end();
      },
    },
    { highWaterMark: 0, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  const headers = {
    ...{ "content-type": "text/event-stream", "cache-control": "no-store" },
    "x-accel-buffering": "no",
    // With its end a stop needn't wait for the connection.
    connection: "close",
  };
  return new Response(body, { headers });
}
