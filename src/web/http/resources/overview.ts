import { z } from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { overviewAnswer, overviewOf } from "../../../tenant/overview.ts";
import { queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

/** How everything stands (contract §10). */
export const overviewRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/overview",
    name: "getOverview",
    tag: "Operating",
    summary:
      "How everything stands: counts of alerts, who is on call, readiness, what each source sent in the last hour",
    plane: "api",
    additive: true,
    query: z.strictObject({
      after: text(128).default("").meta({ description: "`next` of the page before." }),
      limit: queryInteger(1, 200).default(100),
    }),
    status: 200,
    answer: overviewAnswer,
    errors: ["invalid_request"],
    handle: ({ tenant, actor, query }) =>
      overviewOf(tenant, { ...query, accountId: actor.accountId }),
  }),
];
