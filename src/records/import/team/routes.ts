import { conditionsOf } from "../alertmanager/conditions.ts";
import type { LabelMatcher } from "../alertmanager/matchers.ts";
import { planRoutes } from "../alertmanager/plan.ts";
import type { AlertRoute } from "../alertmanager/tree.ts";
import type { PlannedRule, TeamDraft } from "./draft.ts";

/** Routes that are tried in order: the first that takes an alert has it, and a last one has what is left. */

/** Whom a route's rules page. */
export type RoutePaging = Pick<PlannedRule, "ladder" | "escalations">;

export interface GivenRoute {
  /** As it is called in the report: `routing rule late`. */
  title: string;
  id: string;
  /** The alert has it where all matchers of one of these hold. A text: why no conditions say it. */
  any: LabelMatcher[][] | string;
  paging: RoutePaging;
}

/** What its rules are: the last route's, without conditions. */
type RouteRule = Omit<PlannedRule, "conditions">;

/**
 * Makes the rules of routes: `last` is the rule of what no route takes. No alert is in two of them, but where the report
 * says so. A route that can't be said is named, and the next one that matches has its alerts.
 */
export function takeRoutes(
  draft: TeamDraft,
  routes: readonly GivenRoute[],
  { what, last }: { what: string; last: RouteRule },
): void {
  const said: GivenRoute[] = [];
  let isOneLeftOut = false;
  for (const route of routes) {
    const why = reasonOf(route) ?? (isOneLeftOut && pagesNobody(route) ? QUIET : null);
    if (why === null) said.push(route);
    else {
      isOneLeftOut = true;
      draft.nearly(what, `Its ${route.title} isn't imported: ${why}. Make a rule with conditions.`);
    }
  }
  const children = said.flatMap((route) =>
    matchersIn(route).map((matchers) => routeOf(route.title, matchers)),
  );
  const of = new Map(
    said.flatMap((route) => matchersIn(route).map((matchers) => [matchers, route] as const)),
  );
  const made = new Map<GivenRoute | null, number>();
  for (const { route, clauses, shared } of planRoutes({ ...routeOf("", []), children })) {
    const given = of.get(route.matchers) ?? null;
    if (shared.length > 0)
      draft.nearly(
        what,
        `The rule of ${given?.title ?? "its last route"} also takes alerts of ${[...new Set(shared)].join(", ")}, because no condition can leave them out: both page.`,
      );
    for (const clause of clauses) {
      const n = (made.get(given) ?? 0) + 1;
      made.set(given, n);
      const { conditions } = conditionsOf(clause, "absent");
      const { id } = given ?? last;
      draft.rule({
        ...last,
        ...(given !== null && {
          name: `${last.name}: ${given.title}`,
          ladder: undefined,
          escalations: [],
          ...given.paging,
        }),
        id: n === 1 ? id : `${id}/${n}`,
        ...(conditions.length > 0 && { conditions }),
      });
    }
  }
}

const QUIET =
  "it notifies nobody, and some of its alerts may belong to a route before it that isn't imported";

const pagesNobody = ({ paging: { ladder, escalations = [] } }: GivenRoute) =>
  ladder === undefined && escalations.length === 0;

const matchersIn = ({ any }: GivenRoute) => (typeof any === "string" ? [] : any);

/** Why a route isn't imported; null: it is. */
function reasonOf({ any }: GivenRoute): string | null {
  if (typeof any === "string") return any;
  const isLost = planRoutes({ ...routeOf("", []), children: any.map((one) => routeOf("", one)) })
    .filter(({ route }) => route.matchers.length > 0)
    .some(({ clauses }) =>
      clauses.some((clause) => conditionsOf(clause, "absent").lost.length > 0),
    );
  return isLost ? "its comparison also holds where the field is missing, or is too long" : null;
}

const routeOf = (title: string, matchers: LabelMatcher[]): AlertRoute => ({
  title,
  receiver: "",
  matchers,
  continues: false,
  groupBy: [],
  repeatSeconds: 0,
  mute: [],
  active: [],
  children: [],
});

/** A pattern of this text alone. */
export const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
