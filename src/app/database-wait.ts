import { sleep } from "../ground/kit/clock.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { DatabaseAway } from "../hosted/registry/postgres/database-faults.ts";
import type { BoxDeps } from "./parts.ts";

const AGAIN_MS = 1_000;
const SAY_MS = 60_000;
/** After so long without the database, a box that has served by it before starts by its own disk. */
const ALONE_MS = 30_000;

/**
 * Repeats one step of a node's start until the database answers; the step may run twice. After a power cut nodes start
 * before their database does, and it may disappear again in the middle of a start. A node that ended each time would
 * soon not be restarted any more. Rejects with errors that waiting doesn't solve.
 */
export async function onceItAnswers<T>(
  { clock, log }: BoxDeps,
  step: () => Promise<T>,
): Promise<T> {
  for (let saidAt = Number.NEGATIVE_INFINITY; ; await sleep(clock, AGAIN_MS)) {
    try {
      return await step();
    } catch (error) {
      if (!isAway(error)) throw error;
      if (clock.mono() - saidAt < SAY_MS) continue;
      saidAt = clock.mono();
      log.warn({ err: error }, "this node doesn't serve yet: it waits for the database");
    }
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof DatabaseAway
    ? !error.isRefusal
    : error instanceof StoreFault && error.kind === "unavailable";

/** What was asked of the database; "away" where it takes so long that the box starts without it. */
export async function inTime<T>(asked: Promise<T>, { clock, log }: BoxDeps): Promise<T | "away"> {
  const over = new AbortController();
  const late = sleep(clock, ALONE_MS, over.signal).then(() => "away" as const);
  const found = await Promise.race([asked, late]);
  over.abort();
  // Whoever keeps the commits asks again, and says what is wrong.
  if (found === "away") asked.catch(() => {});
  if (found === "away") log.error("the database doesn't answer: the box starts by its own disk");
  return found;
}
