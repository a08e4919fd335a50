import type { Store } from "../../src/ground/store/store.ts";
import type { Book } from "./book.ts";

/** What events say about themselves, and what their alert must know of it. */

/** The keys of an event: never more values of one than an alert knows. */
export function keysOf({ host, wall }: { host: string; wall: number }): Record<string, string> {
  const shift = `${Math.floor(wall / 100) % 5}`;
  return wall % 3 === 0 ? { host, shift } : { host, shift, odd: `${wall % 2}` };
}

/** Of an alert: each name with the values that its events had, in their order. */
export type Heard = Map<string, string[]>;

export function hear(heard: Heard, keys: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(keys))
    heard.set(name, [...(heard.get(name) ?? []), value]);
}

/** What the table has against what was heard, alert by alert. */
export function labelFaults(store: Store, alerts: Readonly<Book["alerts"]>): string[] {
  const rows = store.sql("SELECT id, labels, varied FROM alerts ORDER BY id").all() as {
    id: number;
    labels: string | null;
    varied: string | null;
  }[];
  return rows.flatMap(({ id, labels, varied }, i) => {
    const alert = alerts[i];
    if (alert === undefined) return [];
    const last = JSON.parse(labels ?? "{}") as Record<string, string>;
    const several = JSON.parse(varied ?? "{}") as Record<string, string[]>;
    const known = Object.keys(last).map((name) => textOf(name, several[name] ?? [], last[name]));
    const heard = [...alert.heard].map(([name, values]) => {
      const all = [...new Set(values)];
      // Of two alerts that became one, who was heard last isn't known of each name.
      const latest = alert.hasMerged ? last[name] : values.at(-1);
      return textOf(name, all.length > 1 ? all : [], latest);
    });
    const [is, must] = [known, heard].map((all) => all.toSorted().join("; "));
    return is === must ? [] : [`alert ${id} has the labels ${is}, must have ${must}`];
  });
}

const textOf = (name: string, varied: readonly string[], last: string | undefined) =>
  `${name}=${last} of ${varied.toSorted().join(",")}`;
