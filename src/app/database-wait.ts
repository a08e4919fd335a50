import { sleep } from "../ground/kit/clock.ts";
import { StoreFault } from "../ground/store/faults.ts";
import { DatabaseAway } from "../hosted/registry/postgres/database-faults.ts";
import type { BoxDeps } from "./parts.ts";

const AGAIN_MS = 1_000;
const SAY_MS = 60_000;

/**
 * Does one step of a node's start, which may be done twice, until the database answers. After a power cut nodes are up
 * before their database is, and it may be lost in the middle of a start: who ended then would soon be started no more.
 * Rejects with what isn't mended by waiting.
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
