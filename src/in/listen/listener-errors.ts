import { hearingError, markHearing } from "../../out/contacts/read-position.ts";
import type { ListenDeps } from "./listener.ts";

/** Tracks a listener's errors: when it tries again, and when they are reported. */
interface ListenerErrors {
  recovered(): void;
  /** `leastMs`: the shortest wait; `atOnce`: report it now. Returns the next try's time, in Unix milliseconds. */
  failed(error: string, why?: { leastMs?: number; atOnce?: boolean }): number;
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** Failures before an error is reported: a single one means nothing. */
const LOGGED_FROM = 3;

/** The wait doubles from a second to a minute. An error that lasts is shown at the gateway until a try succeeds. */
export function createListenerErrors({ store, log }: ListenDeps, gateway: string): ListenerErrors {
  let failures = 0;
  const report = (error: string | null) => {
    if (!hearingError(store, gateway, error)) return;
    if (error === null) log.info({ gateway }, "answers are received again");
    else log.warn({ gateway, why: error }, "answers can't be received");
    try {
      store.write((tx) => markHearing(tx, gateway, error));
    } catch (fault) {
      log.warn({ err: fault, gateway }, "a gateway's error could not be written");
    }
  };
  return {
    recovered() {
      failures = 0;
      report(null);
    },
    failed(error, { leastMs = 0, atOnce = false } = {}) {
      failures++;
      if (atOnce || failures >= LOGGED_FROM) report(error);
      const wait = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 10), MOST_MS);
      return store.clock.now() + Math.max(wait, leastMs);
    },
  };
}
