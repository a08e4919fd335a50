import * as z from "zod";
import { LONGEST_QUERY } from "../../../core/alerts/query.ts";
import { text } from "../../../ground/kit/fields.ts";
import { queryLimit } from "../../../ground/kit/query-fields.ts";
import { search, searchAnswer } from "../../../records/search/search.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const searches = routesIn(inTenant, { at: "/search", tag: "Search", additive: true });

/** contract §34. */
export const searchRoutes: Route[] = [
  searches.get("", {
    name: "search",
    summary: "Search names and alerts by words",
    query: z.strictObject({
      q: text(LONGEST_QUERY, 1).describe(
        "Words, and the terms that `q` of `GET /v1/alerts` takes.",
      ),
      limit: queryLimit(100, 20),
    }),
    answer: searchAnswer,
    handle: ({ tenant: { store }, query: { q, limit } }) => search(store, { q, limit }),
  }),
];
