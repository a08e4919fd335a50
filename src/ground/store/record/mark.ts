import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { StoreFault } from "../faults.ts";
import { syncDirectory, writeSynced } from "../files.ts";
import { migrations } from "../migrations.ts";

/** Of a box. */
const NAME = "box.database";

const mark = z.object({
  /** Processes that served this directory: if the database knows the latest one, nobody else has taken the box since. */
  runs: z.array(z.string()),
  /** Whether the database ever had everything. */
  kept: z.boolean(),
  /** Under which the database had it last; a lower one there is a database that was set back. */
  epoch: z.number().default(0),
  /** What lies here is older than the database's, by which it is being replaced. */
  isOlder: z.boolean(),
  /** It may hold what was answered while the database was away, and isn't there. */
  wasAlone: z.boolean().default(true),
  /** Other machines stand by: while this one doesn't hear the database, they may take the box. */
  hasOthers: z.boolean().default(false),
  /** It stands by, and answers at this address. */
  standsBy: z.string().nullable().default(null),
  /**
   * The schema to which it couldn't be brought when it was taken last, and why. `once`: the process ended meanwhile, and
   * nothing had failed before.
   */
  failed: z
    .object({ schema: z.number(), why: z.string(), once: z.boolean().optional() })
    .nullable()
    .default(null),
});

/** Of a directory that no database had before. */
export const newMark: DatabaseMark = mark.parse({ runs: [], kept: false, isOlder: false });

/** What says in a data directory that its commits are in a database as well. */
export type DatabaseMark = z.infer<typeof mark>;

/** For commands on the directory of a machine that stands by. */
export const STANDS_BY =
  "This machine stands by. Ask the one that serves the box, if one does: GET /v1/role says which.";

/** null where there is none. Throws StoreFault where it isn't readable. */
export function readMark(data: string, name = NAME): DatabaseMark | null {
  const path = join(data, name);
  try {
    return mark.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (error) {
    // No such file, or no such directory: whoever needs one says so itself.
    if (error instanceof Error && "code" in error && /^ENO(ENT|TDIR)$/.test(String(error.code)))
      return null;
    throw new StoreFault(
      "misconfigured",
      `${path} can't be read. If the database is the right one, move everything but box.key aside, and start: the box comes back from it.`,
    );
  }
}

/**
 * Why this program couldn't upgrade the box when it was taken in this directory last; null once the box has that schema,
 * when nothing is left to fail. Another program may be able to. `schema`: the box's now. Default: an older one.
 */
export function failedUpgrade(of: DatabaseMark | null, schema = 0): string | null {
  const failed = of?.failed ?? null;
  const ours = migrations("box").length;
  return failed?.schema === ours && schema < ours ? failed.why : null;
}

export function writeMark(data: string, said: DatabaseMark, name = NAME): void {
  const path = join(data, name);
  const aside = `${path}.new`;
  rmSync(aside, { force: true });
  writeSynced(aside, JSON.stringify(said));
  renameSync(aside, path);
  syncDirectory(data);
}

/**
 * Throws where the directory's machine stands by with an older copy: what lies there isn't the box as it is now. One that
 * waits with what only its disk has may be read.
 */
export function mustBeServed(data: string): void {
  const said = readMark(data);
  if (said?.standsBy && said.isOlder)
    throw new StoreFault("unavailable", `${STANDS_BY} box doctor says how this one does.`);
}

/** Throws where a directory's commits are in a database as well; `why` nothing may be written to it. */
export function mustBeAlone(data: string, why: string): void {
  if (readMark(data) === null) return;
  throw new StoreFault("misconfigured", `The box of ${data} is in a database as well, and ${why}.`);
}
