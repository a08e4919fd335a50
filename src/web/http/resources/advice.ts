import { adviceAnswer, adviceHidden } from "../../../records/advice/shape.ts";
import { hideOf } from "../../../tenant/advice.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const advice = routesIn(inTenant, { at: "/advice", tag: "Operating", additive: true });

/** What could be changed so that fewer people are woken for nothing. */
export const adviceRoutes: Route[] = [
  advice.get("", {
    name: "listAdvice",
    summary:
      "At most ten changes that the past 28 days suggest, each with its figures and, where lines are kept, with what the dry run of the changed rule says. Nothing is changed",
    answer: adviceAnswer,
    handle: ({ tenant }) => tenant.advice.whole(),
  }),
  advice.post("/{id}/hide", {
    name: "hideAdvice",
    summary: "Don't give this advice for 90 days",
    manager: true,
    answer: adviceHidden,
    errors: ["not_found"],
    handle: ({ tenant, params }) => hideOf(tenant, params.id),
  }),
];
