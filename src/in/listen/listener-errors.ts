import { hearingError, markHearing } from "../../out/contacts/heard.ts";
import type { ListenDeps } from "./listener.ts";

/** How a listener fares with its service: when it looks again, and what is said of it. */
export interface ListenerErrors {
  recovered(): void;
  /** It failed. `leastMs`: the service asked for so long, or knows better than to change its mind. Returns when to look again, in Unix milliseconds. */
  failed(error: string, why?: { leastMs?: number; atOnce?: boolean }): number;
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** One look that got lost is no news. */
const LOGGED_FROM = 3;

/** Waits double from a second to a minute. What lasts is the gateway's error, until it goes well again. */
export function createListenerErrors({ store, log }: ListenDeps, gateway: string): ListenerErrors {
  let failures = 0;
  const report = (error: string | null) => {
    if (!hearingError(store, gateway, error)) return;
    if (error === null) log.info({ gateway }, "answers are heard again");
    else log.warn({ gateway, why: error }, "answers can't be heard");
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
