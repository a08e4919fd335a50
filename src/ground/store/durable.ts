import type { Clock } from "../kit/clock.ts";
import { ServiceError } from "../kit/errors.ts";
import type { Store } from "./store.ts";

/** What an answer waits at most for the commits before it, in milliseconds. */
const MOST_MS = 5_000;
const AGAIN_SECONDS = 2;

/**
 * Whether what was read or written up to now may be told. null: yes. Else it resolves when it may, and rejects with
 * not_ready where that takes too long: the commits stand, and may still become durable.
 */
export function mayTell(store: Pick<Store, "durable" | "clock">): Promise<void> | null {
  const waiting = store.durable();
  return waiting === null ? null : inTime(store.clock, waiting);
}

/**
 * The same for what another machine is told, too, if it takes the store while this disk alone has it: then `what` is noted
 * before it is confirmed.
 */
export function mayConfirm(
  store: Pick<Store, "durable" | "keeper" | "clock">,
  what: () => readonly object[],
): Promise<void> | null {
  const { keeper } = store;
  const waiting = mayTell(store);
  if (keeper === null) return waiting;
  const commit = keeper.latest();
  const note = () => {
    if (!keeper.note(commit, what)) throw notYet();
  };
  const confirmed = waiting === null ? attempted(note) : waiting.then(note);
  // A batch may be of senders who don't wait.
  confirmed?.catch(() => {});
  return confirmed;
}

function attempted(does: () => void): Promise<never> | null {
  try {
    does();
    return null;
  } catch (error) {
    return Promise.reject(error);
  }
}

function inTime(clock: Clock, waiting: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = () => {
      cancel();
      reject(notYet());
    };
    const cancel = clock.after(MOST_MS, refuse);
    waiting.then(() => {
      cancel();
      resolve();
    }, refuse);
  });
}

/** Throws not_ready for what would be lost if another machine took the store, which may happen now: a setting, say. */
export function mustNotBeInDoubt({ keeper }: Pick<Store, "keeper">): void {
  if (keeper?.isInDoubt() !== true) return;
  throw new ServiceError(
    "not_ready",
    "The database doesn't answer this machine, and another one may take the box: this would be lost. Try again shortly.",
    { retryAfter: AGAIN_SECONDS },
  );
}

function notYet(): ServiceError {
  return new ServiceError("not_ready", "What this is about is not safe yet: try again shortly.", {
    retryAfter: AGAIN_SECONDS,
  });
}
