import { type Clause, EVERYTHING, narrowedByAll, without } from "./clause.ts";
import { conditionsOf } from "./conditions.ts";
import type { LabelMatcher } from "./matchers.ts";
import type { AlertRoute } from "./tree.ts";

/** What gets to a route and stays there. */
export interface PlannedRoute {
  route: AlertRoute;
  /** Each becomes a rule; no two of them take one alert. Empty: nothing ever gets there. */
  clauses: Clause[];
  /** Titles of routes whose alerts it takes, too, since no condition says that it doesn't. */
  shared: string[];
}

/** Rules that one route may become. */
const MOST_CLAUSES = 8;

interface Reach {
  clauses: Clause[];
  shared: string[];
}

/**
 * The tree as routes that stand by themselves. Alertmanager walks it depth first: of routes side by side the first that matches takes
 * the alert, unless it continues; a route itself takes what none of those inside it does.
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

/** null: some part of it can't be said by conditions as well as the whole was. */
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

/** Conditions of a rule. */
const MOST_CONDITIONS = 100;

function isSaid(clause: Clause, mayLose: number): boolean {
  const { conditions, lost } = conditionsOf(clause, "absent");
  return lost.length <= mayLose && conditions.length <= MOST_CONDITIONS;
}

/** Whether any alert that satisfies the clause may have what the matchers ask for. */
export const mayHave = (clause: Clause, matchers: readonly LabelMatcher[]): boolean =>
  narrowedByAll(clause, matchers) !== null;
