import { sleep } from "../ground/kit/clock.ts";
import type { PageRecord } from "../ground/store/record/record.ts";
import type { BoxDeps } from "./parts.ts";

/** Well within the time that a machine lives after its latest word. */
const RENEW_MS = 2_000;

/**
 * Says that the owner lives while it does `work`, which may take longer than a machine lives without a word: another one
 * would take the store, and begin the same.
 */
export async function livingOn(
  { renew }: Pick<PageRecord, "renew">,
  { clock }: Pick<BoxDeps, "clock">,
  work: () => Promise<void>,
): Promise<void> {
  const over = new AbortController();
  const lives = async () => {
    while (await sleep(clock, RENEW_MS, over.signal).then(() => !over.signal.aborted))
      // Whoever keeps its commits asks again, and says what is wrong.
      await renew().catch(() => {});
  };
  const living = lives();
  try {
    await work();
  } finally {
    over.abort();
    await living;
  }
}
