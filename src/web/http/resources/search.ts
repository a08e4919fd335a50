import { z } from "zod";
import { LONGEST_QUERY } from "../../../core/alerts/query.ts";
import { text } from "../../../ground/kit/fields.ts";
import { search, searchAnswer } from "../../../records/search/search.ts";
import { queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** contract §34. */
export const searchRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/search",
    name: "search",
    tag: "Search",
    summary: "What has a name, and alerts, by some words",
    plane: "api",
    additive: true,
    query: z.strictObject({
      q: text(LONGEST_QUERY, 1).describe("As in lists of alerts."),
      limit: queryInteger(1, 100).optional(),
    }),
    status: 200,
    answer: searchAnswer,
    errors: ["invalid_request"],
    handle: ({ tenant: { store }, query: { q, limit = 20 } }) => search(store, { q, limit }),
  }),
];
