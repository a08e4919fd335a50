import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { changesAfter, changesStream } from "../changes-stream.ts";
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
      const { keyId: key } = actor;
      const since = query.since ?? null;
      if (headers["accept"]?.includes("text/event-stream"))
        return changesStream(tenant, { key, signal, since: headers["last-event-id"] ?? since });
      return changesAfter(tenant, { key, signal, since }, query.wait ?? 0);
    },
  }),
];
