import { sleep } from "../ground/kit/clock.ts";
import { type PageRecord, RecordFault } from "../ground/store/record/record.ts";
import type { Lifecycle } from "./lifecycle.ts";
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

/** Rejects with `why` as soon as the signal is aborted, whatever the work comes to. */
export function unlessAborted(
  work: Promise<void>,
  signal: AbortSignal,
  why: () => Error,
): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const end = () => aborted.reject(why());
  if (signal.aborted) end();
  signal.addEventListener("abort", end);
  return Promise.race([work, aborted.promise]).finally(() =>
    signal.removeEventListener("abort", end),
  );
}

/**
 * Does the same for a store that was just taken. Where it fails, or the machine is told to end meanwhile, another machine
 * may take the store at once.
 */
export async function prepareTaken(
  record: Pick<PageRecord, "renew" | "leave">,
  { clock, lifecycle }: Pick<BoxDeps, "clock"> & { lifecycle: Pick<Lifecycle, "onStop"> },
  work: (ending: AbortSignal) => Promise<void>,
): Promise<void> {
  const ending = new AbortController();
  const ends = () => new Error("this machine ends");
  const prepare = () => unlessAborted(work(ending.signal), ending.signal, ends);
  const prepared = livingOn(record, { clock }, prepare).catch(async (error: unknown) => {
    await record.leave(false).catch(() => {});
    throw error;
  });
  lifecycle.onStop("taking", () => {
    ending.abort();
    return prepared.catch(() => {});
  });
  await prepared.catch((error: unknown) => {
    if (!ending.signal.aborted) throw error;
    // The process ends in a moment.
    return new Promise<void>(() => {});
  });
}
