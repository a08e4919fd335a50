import { type Clock, sleep } from "../ground/kit/clock.ts";
import type { Log } from "../ground/kit/log.ts";

/** Named cleanups, which run backwards within one time limit: the part that was started last is stopped first. */
export type Lifecycle = ReturnType<typeof createLifecycle>;

const STOP_LIMIT_MS = 9000;

export function createLifecycle(clock: Clock, log: Log) {
  const cleanups: { name: string; cleanup: () => void | Promise<void> }[] = [];
  let stopping: Promise<void> | null = null;

  const run = async () => {
    for (const { name, cleanup } of cleanups.reverse()) {
      try {
        await cleanup();
      } catch (error) {
        log.error({ err: error, cleanup: name }, "stopping: a cleanup failed");
      }
    }
  };

  return {
    onStop: (name: string, cleanup: () => void | Promise<void>) =>
      void cleanups.push({ name, cleanup }),
    /** Runs every cleanup, even where others fail. Resolves within STOP_LIMIT_MS. Later calls wait for the first. */
    stop(): Promise<void> {
      const over = new AbortController();
      stopping ??= Promise.race([run(), sleep(clock, STOP_LIMIT_MS, over.signal)]).finally(() =>
        over.abort(),
      );
      return stopping;
    },
  };
}
