import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { queryWait } from "../../../ground/kit/query-fields.ts";
import { changesPage } from "../../../tenant/change-listeners.ts";
import { changesAfter, changesStream } from "../changes-stream.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const changes = routesIn(inTenant, { at: "/changes", tag: "Changes", additive: true });

/** Which things changed (contract §30). */
export const changesRoutes: Route[] = [
  changes.get("", {
    name: "listChanges",
    summary:
      "Topics that changed since `since`. With `wait`, the answer comes when something changes; with `Accept: text/event-stream` it is a stream",
    noHead: true,
    wantsHeaders: ["accept", "last-event-id"],
    query: z.strictObject({
      since: text(40)
        .optional()
        .describe(
          "`next` of the answer before. Without it nothing is known: the answer is `reset`.",
        ),
      wait: queryWait,
    }),
    answer: changesPage,
    errors: ["invalid_request", "overloaded"],
    handle: async ({ tenant, query, actor, signal, headers }) => {
      const { keyId: key } = actor;
      const since = query.since ?? null;
      if (headers["accept"]?.includes("text/event-stream"))
        return changesStream(tenant, { key, signal, since: headers["last-event-id"] ?? since });
      return changesAfter(tenant, { key, signal, since }, query.wait);
    },
  }),
];
