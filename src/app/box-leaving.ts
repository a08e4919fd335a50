import { sleep } from "../ground/kit/clock.ts";
import { isFollowed } from "../hosted/record/taking.ts";
import type { Database } from "../hosted/registry/postgres/connect.ts";
import type { BoxDeps } from "./parts.ts";

/** A large store is fetched in a minute or two. Whoever needs more time than this takes the box all the same. */
const LEAVE_MS = 300_000;
const LOOK_MS = 500;

/**
 * Resolves once another machine could serve soon after this one has left, or none will: none stands by, or the database
 * doesn't answer. Until then this one goes on serving.
 */
export async function untilFollowed(
  { database, isAlone }: { database: Database; isAlone(): boolean },
  { clock, log }: Pick<BoxDeps, "clock" | "log">,
  atOnce: AbortSignal,
): Promise<void> {
  const until = clock.mono() + LEAVE_MS;
  const isOver = () => isAlone() || atOnce.aborted || clock.mono() >= until;
  for (let waits = false; !isOver(); waits = true) {
    // Whoever stood by a moment ago is waited for, also where the database doesn't say so now.
    const isNow = await isFollowed(database).catch(() => (waits ? false : null));
    if (isNow !== false) return;
    if (!waits)
      log.warn(
        "this machine goes on serving until the one that stands by has the whole store, for five minutes at most: a second signal ends it at once",
      );
    await sleep(clock, LOOK_MS, atOnce);
  }
}
