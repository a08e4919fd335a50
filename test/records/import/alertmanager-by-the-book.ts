/** Alertmanager's own rules as its code and its documents have them, for tests to compare with. */

export type Labels = Readonly<Record<string, string>>;

export interface BookMatcher {
  name: string;
  op: "=" | "!=" | "=~" | "!~";
  value: string;
}

export interface BookRoute {
  receiver: string;
  matchers: BookMatcher[];
  continues: boolean;
  routes: BookRoute[];
}

export interface BookInhibition {
  source: BookMatcher[];
  target: BookMatcher[];
  equal: string[];
}

/** A label that isn't there is the empty text; a pattern is one of the whole value. */
export function matchesAll(matchers: readonly BookMatcher[], labels: Labels): boolean {
  return matchers.every(({ name, op, value }) => {
    const has = labels[name] ?? "";
    const is = op.endsWith("~") ? new RegExp(`^(?:${value})$`).test(has) : has === value;
    return op.startsWith("!") ? !is : is;
  });
}

/** `Route.Match`: depth first; the routes that an alert stays at, of which each tells its receiver. */
export function routesOf(route: BookRoute, labels: Labels): BookRoute[] {
  if (!matchesAll(route.matchers, labels)) return [];
  const all: BookRoute[] = [];
  for (const child of route.routes) {
    const found = routesOf(child, labels);
    all.push(...found);
    if (found.length > 0 && !child.continues) break;
  }
  return all.length === 0 ? [route] : all;
}

/** `InhibitRule`: whether the alert `by`, which fires, holds the other back. */
export function inhibits(
  { source, target, equal }: BookInhibition,
  { by, labels }: { by: Labels; labels: Labels },
): boolean {
  if (!matchesAll(target, labels) || !matchesAll(source, by)) return false;
  if (!equal.every((name) => (by[name] ?? "") === (labels[name] ?? ""))) return false;
  return !(matchesAll(source, labels) && matchesAll(target, by));
}
