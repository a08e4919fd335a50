import type { Clock } from "../../ground/kit/clock.ts";

/** For reading what came by all ports together, in one turn of the event loop: the longest message takes ten. */
const MOST_MS = 20;

/** The turn of the event loop that the ports share, so that however many messages come at once, pages have theirs. */
export interface LoopTurn {
  /** It was long enough: who has more to read lets others have theirs first. */
  readonly isOver: boolean;
}

export function createLoopTurn(clock: Clock): LoopTurn {
  let since: number | null = null;
  return {
    get isOver() {
      if (since === null) {
        since = clock.mono();
        setImmediate(() => (since = null));
      }
      return clock.mono() - since > MOST_MS;
    },
  };
}
