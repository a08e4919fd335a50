import * as z from "zod";
import { text } from "../../../ground/kit/fields.ts";
import { queryLimit } from "../../../ground/kit/query-fields.ts";
import { overviewAnswer, overviewOf } from "../../../tenant/overview.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const overview = routesIn(inTenant, { at: "/overview", tag: "Operating", additive: true });

/** How everything stands (contract §10). */
export const overviewRoutes: Route[] = [
  overview.get("", {
    name: "getOverview",
    summary:
      "Everything in short: counts of alerts, who is on call, readiness, what each source sent in the last hour",
    query: z.strictObject({
      after: text(128).default("").meta({ description: "`next` of the page before." }),
      limit: queryLimit(200, 100),
    }),
    answer: overviewAnswer,
    handle: ({ tenant, actor, query }) =>
      overviewOf(tenant, { ...query, accountId: actor.accountId }),
  }),
];
