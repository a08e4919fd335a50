import { sleep } from "../ground/kit/clock.ts";
import { type PageRecord, RecordFault } from "../ground/store/record/record.ts";
import type { BoxDeps } from "./parts.ts";

/** Well within the time that a machine lives after its latest word. */
const RENEW_MS = 2_000;

/**
 * Says that the owner lives while it does `work`, which may take longer than a machine lives without a word: else another
 * machine would take the store and begin the same. Rejects with RecordFault as soon as one did:
 * what the work comes to then is nobody's concern.
 */
export async function livingOn(
  { renew }: Pick<PageRecord, "renew">,
  { clock }: Pick<BoxDeps, "clock">,
  work: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const lives = async () => {
    for (;;) {
      await sleep(clock, RENEW_MS, over.signal);
      if (over.signal.aborted) return;
      await renew().catch((error: unknown) => {
        // Of anything else: whoever keeps its commits asks again, and says what is wrong.
        if (error instanceof RecordFault && error.kind === "taken") throw error;
      });
    }
  };
  const living = lives();
  try {
    const working = work().finally(() => over.abort());
    // Only a loss ends the one before the other.
    await Promise.all([working, living]);
  } finally {
    over.abort();
    // A word that is still under way would come after what is said next: that the store is left.
    await living.catch(() => {});
  }
}

/** Does the same for a store that was just taken. Where it fails, another machine may take the store at once. */
export async function prepareTaken(
  record: Pick<PageRecord, "renew" | "leave">,
  deps: Pick<BoxDeps, "clock">,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await livingOn(record, deps, work);
  } catch (error) {
    await record.leave(false).catch(() => {});
    throw error;
  }
}
