import { and, asc, eq } from "drizzle-orm";
import { invalid, notFound, ServiceError } from "../../ground/kit/errors.ts";
import { sourceKeys, sources } from "../../ground/store/schema.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import type { Project } from "./projects.ts";
import type { SourceKey } from "./source.ts";
import { EVENTS, getSource, HEARTBEATS, senderKeyHash } from "./sources.ts";

/** Keys of one source, over those that it was made with. */
export const MOST_SOURCE_KEYS = 50;

/** The keys that were given to a source, the oldest first; what they are nobody knows any more. Throws 404. */
export function listSourceKeys(reader: Reader, project: Project, name: string): SourceKey[] {
  const source = getSource(reader, project, name);
  return reader.orm
    .select({ id: sourceKeys.id, added_at: sourceKeys.addedAt })
    .from(sourceKeys)
    .where(eq(sourceKeys.sourceId, source.id))
    .orderBy(asc(sourceKeys.id))
    .all();
}

/**
 * Lets a key of an earlier tool open the source as its own token does. Throws 400 for a source whose senders use none,
 * 404, 409 for a key that opens one already, 422 for one too many.
 */
export function addSourceKey(
  tx: Tx,
  project: Project,
  { name, key }: { name: string; key: string },
): SourceKey {
  const source = getSource(tx, project, name);
  const hash = senderKeyHash(key);
  if (hash === null || source.kind === EVENTS || source.kind === HEARTBEATS) {
    const reason =
      hash === null ? "is no key of another tool" : `a source of kind ${source.kind} takes none`;
    throw invalid([{ field: "/key", reason }]);
  }
  if (isTaken(tx, hash)) throw new ServiceError("name_taken", "A source accepts this key already.");
  if (listSourceKeys(tx, project, name).length >= MOST_SOURCE_KEYS)
    throw new ServiceError(
      "too_many",
      `A source has at most ${MOST_SOURCE_KEYS} keys of other systems: remove one first.`,
      {
        details: [{ reason: `at most ${MOST_SOURCE_KEYS} keys`, value: String(MOST_SOURCE_KEYS) }],
      },
    );
  tx.orm.insert(sourceKeys).values({ sourceId: source.id, hash, addedAt: tx.at }).run();
  tx.note({ topic: "sources" });
  return listSourceKeys(tx, project, name).at(-1) as SourceKey;
}

function isTaken(tx: Tx, hash: string): boolean {
  const key = tx.orm.select().from(sourceKeys).where(eq(sourceKeys.hash, hash)).get();
  const short = tx.orm.select().from(sources).where(eq(sources.shortHash, hash)).get();
  return key !== undefined || short !== undefined;
}

/** The key opens nothing any more with the commit. Throws 404. */
export function deleteSourceKey(
  tx: Tx,
  project: Project,
  { name, id }: { name: string; id: string },
): void {
  const source = getSource(tx, project, name);
  const { changes } = tx.orm
    .delete(sourceKeys)
    .where(and(eq(sourceKeys.id, Number(id)), eq(sourceKeys.sourceId, source.id)))
    .run();
  if (changes === 0) throw notFound("key");
  tx.note({ topic: "sources" });
}
