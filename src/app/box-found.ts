import { existsSync } from "node:fs";
import { loadKeyRing } from "../ground/kit/key-ring.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { getMeta } from "../ground/store/meta.ts";
import type { DatabaseMark } from "../ground/store/record/mark.ts";
import { openReader } from "../ground/store/store.ts";
import type { FoundStore } from "../hosted/record/taking.ts";
import type { BoxDeps } from "./parts.ts";

/** A box's store in the data directory. */
interface LocalStore {
  tenantId: string;
  commits: number;
}

/** What lies in a data directory. */
export interface Lying {
  local: LocalStore | null;
  mark: DatabaseMark | null;
}

/** null also where the file is damaged, and the database has it whole. */
export function lyingAt(
  path: string,
  mark: DatabaseMark | null,
  { clock, random }: BoxDeps,
): LocalStore | null {
  if (!existsSync(path)) return null;
  try {
    const reader = openReader({ path, kind: "box", clock, random });
    try {
      return {
        tenantId: String(getMeta(reader, "tenant_id") ?? ""),
        commits: Number(getMeta(reader, "commits") ?? 0),
      };
    } finally {
      reader.close();
    }
  } catch (error) {
    if (mark?.kept && error instanceof StoreFault && error.kind === "damaged") return null;
    throw error;
  }
}

/** Runs that took the box and ended before they served it. */
const MOST_RUNS = 500;

/** Whoever owned what lies here is among them: the one that served, which is the first, or one of those that took it since. */
export const withRun = ([served, ...since]: readonly string[], run: string): string[] =>
  served === undefined ? [run] : [served, ...since.slice(1 - MOST_RUNS), run];

/** Whether what lies in the directory is all that the database has, or more: nobody else has served since. */
export function isLatest(found: FoundStore, { local, mark }: Lying): boolean {
  if (local === null || mark === null || mark.isOlder) return false;
  return mark.runs.includes(found.run) && local.commits >= found.seq;
}

/** Throws StoreFault where the database and the directory aren't one box. */
export function mustFit(
  found: FoundStore | null,
  { local, mark, data }: Lying & { data: string },
): void {
  const wrong = (why: string) => {
    throw new StoreFault("misconfigured", why);
  };
  if (found === null) {
    if (mark?.kept)
      wrong(
        `The box of ${data} is in a database, and this one holds none: is it the right one? If that one is lost, make a backup (box backup), restore it into an empty directory, and serve that with an empty database.`,
      );
    return;
  }
  if (local !== null && local.tenantId !== found.tenantId)
    wrong(`The database holds another box than ${data}: give each box a database of its own.`);
  if (found.epoch < (mark?.epoch ?? 0))
    wrong(
      `The database was set back, as by a restored backup of its own: it may lack what the box of ${data} has answered. Make a backup (box backup), restore it into an empty directory, and serve that with an empty database. To take the database's older box instead, start in an empty directory with box.key.`,
    );
  const keys = loadKeyRing(data, "box.key").ring?.keys;
  if (found.keyId !== null && keys?.has(found.keyId) !== true)
    wrong(
      `The secrets of the database's box are sealed with the key ${found.keyId}, which isn't in ${data}: put its box.key and box.key.* there first.`,
    );
}

/**
 * Whoever takes from an owner that didn't leave must have heard the database for so long: after an outage every owner
 * seems to be dead, and asks again within that time.
 */
const HEARD_MS = 10_000;

/** Whether a machine that stands by, as the process `run`, may take the box: its owner left, or has been dead for long enough. */
export function mayTakeBox(
  found: FoundStore,
  by: {
    run: string;
    /** For how long it has heard the database without a break, up to now. */
    heardMs: number;
    /** It has all that the database has. */
    isFresh: boolean;
    mayServe(): boolean;
  },
): boolean {
  if (!by.isFresh) return false;
  // It was taken, and the answer was lost.
  if (found.run === by.run) return true;
  if (found.isAlive) return false;
  return by.mayServe() && (found.clean || by.heardMs >= HEARD_MS);
}

/** Whether the database has all that was ever answered by what lies in the directory. */
export function isKnownThere(found: FoundStore, { local, mark }: Lying): boolean {
  if (local === null || mark === null) return false;
  return mark.kept && !mark.wasAlone && local.commits <= found.seq;
}
