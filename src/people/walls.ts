import { asc, eq } from "drizzle-orm";
import { notFound, ServiceError } from "../ground/kit/errors.ts";
import { base62Secret, hexId, sha256 } from "../ground/kit/ids.ts";
import { rowsCounted } from "../ground/store/rows-counted.ts";
import { walls } from "../ground/store/schema.ts";
import type { Reader, Tx } from "../ground/store/store.ts";
import type { WallAnswer, WallWrite } from "./wall.ts";

/** Links to the wall, the screen in a corridor. Such a link shows open alerts and can change nothing. */

/** Links of one box. */
export const MOST_WALLS = 50;
/** Precision of "last seen", in seconds. */
const SEEN_TO = 60;

/** The secret part of a link. */
const WALL_SECRET = /^[0-9A-Za-z]{22}$/;

type WallRow = typeof walls.$inferSelect;

const toWall = (row: WallRow): WallAnswer => ({
  id: row.id,
  name: row.name,
  messages: row.messages,
  created_by: row.accountId,
  created_at: row.createdAt,
  last_seen_at: row.lastSeenAt,
});

/** By name. */
export function listWalls(reader: Reader): WallAnswer[] {
  return reader.orm.select().from(walls).orderBy(asc(walls.name), asc(walls.id)).all().map(toWall);
}

/** Creates a link. Its secret (22 base62 characters, 131 bits) is only in this answer. Throws 422 above the limit. */
export function makeWall(tx: Tx, by: string, { name, messages }: WallWrite) {
  const n = rowsCounted(tx, walls);
  if (n >= MOST_WALLS)
    throw new ServiceError("too_many", `There are at most ${MOST_WALLS} links to the wall.`, {
      details: [{ reason: `at most ${MOST_WALLS} links`, value: String(n) }],
    });
  const secret = base62Secret(tx.random, 22);
  const row = tx.orm
    .insert(walls)
    .values({
      id: hexId(tx.random),
      name,
      messages,
      hash: sha256(secret),
      accountId: by,
      createdAt: tx.at,
      lastSeenAt: null,
    })
    .returning()
    .get();
  return { wall: toWall(row), secret };
}

/** From the commit on the link shows nothing. Throws 404. */
export function revokeWall(tx: Tx, id: string): void {
  const { changes } = tx.orm.delete(walls).where(eq(walls.id, id)).run();
  if (changes === 0) throw notFound("wall");
}

/** null for an unknown or revoked link. */
export function findWall(reader: Reader, secret: string): WallAnswer | null {
  if (!WALL_SECRET.test(secret)) return null;
  const row = reader.orm
    .select()
    .from(walls)
    .where(eq(walls.hash, sha256(secret)))
    .get();
  return row === undefined ? null : toWall(row);
}

/** Whether "last seen" must be stored again. */
export const isSeenLater = ({ last_seen_at }: WallAnswer, now: number): boolean =>
  last_seen_at === null || now - last_seen_at >= SEEN_TO;

/** Stores that a screen showed the wall. */
export function seenWall(tx: Tx, id: string): void {
  tx.orm.update(walls).set({ lastSeenAt: tx.at }).where(eq(walls.id, id)).run();
}
