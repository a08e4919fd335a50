import { eq, inArray } from "drizzle-orm";
import { invalid } from "../../ground/kit/errors.ts";
import { integrations, projects } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Channel } from "../../out/services/channel.ts";
import { mustBeBelowShareLimit } from "./bounds.ts";
import { changeConfig, findProject } from "./projects.ts";

/** Whether a channel hears of other projects than its own, and of which it doesn't; by name, as people write it. */
interface Sharing {
  shared: boolean;
  except: string[];
}

/** What is left out stays. */
export type SharingInput = { [F in keyof Sharing]?: Sharing[F] | undefined };

/** How a row is shared, with the names that its left-out projects have now. */
export function sharingOf(
  reader: Reader,
  row: { shared: boolean; exceptProjects: number[] },
): Sharing {
  const { shared, exceptProjects: ids } = row;
  if (ids.length === 0) return { shared, except: [] };
  const names = reader.orm
    .select({ name: projects.name })
    .from(projects)
    .where(inArray(projects.id, ids))
    .all();
  return { shared, except: names.map(({ name }) => name).toSorted() };
}

/**
 * Sets what is given. Throws 400 for a kind that pushes to phones, which the relay shares by itself, and for a project
 * that there isn't, 422 where the tenant shares too many.
 */
export function share(
  tx: Tx,
  { id, kind }: { id: string; kind: Channel },
  { shared, except }: SharingInput,
): void {
  if (shared === undefined && except === undefined) return;
  const before = tx.orm
    .select({ shared: integrations.shared, except: integrations.exceptProjects })
    .from(integrations)
    .where(eq(integrations.id, id))
    .get();
  if (before === undefined) return;
  if (shared && kind.pushes)
    throw invalid([
      { field: "/shared", reason: `must be false: a ${kind.kind} channel can't be shared` },
    ]);
  const to = {
    shared: shared ?? before.shared,
    exceptProjects: except === undefined ? before.except : idsOf(tx, except),
  };
  const isSame = to.shared === before.shared && String(to.exceptProjects) === String(before.except);
  if (isSame) return;
  if (to.shared && !before.shared) mustBeBelowShareLimit(tx);
  tx.orm.update(integrations).set(to).where(eq(integrations.id, id)).run();
  // Who can be told is another for every project.
  for (const project of tx.orm.select({ id: projects.id }).from(projects).all())
    changeConfig(tx, project.id);
}

function idsOf(reader: Reader, names: readonly string[]): number[] {
  const found = names.map((name) => findProject(reader, name)?.id ?? null);
  const unknown = found.flatMap((id, i) =>
    id === null ? [{ field: `/except/${i}`, reason: "there is no such project" }] : [],
  );
  if (unknown.length > 0) throw invalid(unknown);
  return [...new Set(found as number[])].toSorted((a, b) => a - b);
}
