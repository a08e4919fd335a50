import { conditions } from "../../../core/projects/condition.ts";
import { type Clause, EVERYTHING, narrowedByAll, without } from "./clause.ts";
import { conditionsOf } from "./conditions.ts";
import type { LabelMatcher } from "./matchers.ts";
import type { AlertRoute } from "./tree.ts";

/** A route and the alerts that it keeps. */
export interface PlannedRoute {
  route: AlertRoute;
  /** Each becomes a rule. No alert matches two of them. Empty: no alert reaches the route. */
  clauses: Clause[];
  /** Titles of routes whose alerts it also takes, because no condition can exclude them. */
  shared: string[];
}

/** Rules of one route. */
const MOST_CLAUSES = 8;

interface Reach {
  clauses: Clause[];
  shared: string[];
}

/**
 * The tree as independent routes. Alertmanager walks it depth first: of sibling routes the first that matches takes the
 * alert, and the next ones only see it if that one continues. A route keeps what none of its children takes.
 */
export function planRoutes(root: AlertRoute): PlannedRoute[] {
  const planned: PlannedRoute[] = [];
  const walk = (route: AlertRoute, around: Reach, taken: readonly AlertRoute[]): void => {
    const clauses = around.clauses.flatMap((clause) => narrowedByAll(clause, route.matchers) ?? []);
    const own = taken.reduce(minus, { ...around, clauses });
    const before: AlertRoute[] = [];
    for (const child of route.children) {
      walk(child, own, before);
      if (!child.continues) before.push(child);
    }
    planned.push({ route, ...route.children.reduce(minus, own) });
  };
  walk(root, { clauses: [EVERYTHING], shared: [] }, []);
  return planned;
}

function minus(reach: Reach, { matchers, title }: AlertRoute): Reach {
  const clauses = splitExactly(reach.clauses, (clause) => without(clause, matchers));
  if (clauses !== null && clauses.length <= MOST_CLAUSES) return { ...reach, clauses };
  return { ...reach, shared: [...reach.shared, title] };
}

/** null: conditions express some part less exactly than the whole. */
export function splitExactly(
  clauses: readonly Clause[],
  split: (clause: Clause) => readonly Clause[],
): Clause[] | null {
  const parts: Clause[] = [];
  for (const clause of clauses) {
    const some = split(clause);
    const [only] = some;
    if (some.length === 1 && only === clause) {
      parts.push(clause);
      continue;
    }
    const lost = conditionsOf(clause, "absent").lost.length;
    if (some.some((part) => !isSaid(part, lost))) return null;
    parts.push(...some);
  }
  return parts;
}

function isSaid(clause: Clause, mayLose: number): boolean {
  const said = conditionsOf(clause, "absent");
  return said.lost.length <= mayLose && conditions.safeParse(said.conditions).success;
}

/** Whether an alert of the clause can match the matchers. */
export const mayHave = (clause: Clause, matchers: readonly LabelMatcher[]): boolean =>
  narrowedByAll(clause, matchers) !== null;
