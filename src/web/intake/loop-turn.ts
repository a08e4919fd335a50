import type { Clock } from "../../ground/kit/clock.ts";
import { othersFirst } from "../../ground/kit/slices.ts";

/** For reading what came by all ports together, in one turn of the event loop: the longest message takes ten. */
const MOST_MS = 20;

/** The turn of the event loop that the ports share, so that however many messages come at once, pages have theirs. */
export interface LoopTurn {
  /** Whether there is time, and nobody waits for it. */
  readonly isFree: boolean;
  /** Resolves when there is time for one message. Who asks again comes after all who wait, so that none takes every turn. */
  mine(): Promise<void>;
}

export function createLoopTurn(clock: Clock): LoopTurn {
  let since: number | null = null;
  const waiting: (() => void)[] = [];

  const isOver = () => {
    if (since === null) {
      since = clock.mono();
      setImmediate(() => (since = null));
    }
    return clock.mono() - since > MOST_MS;
  };

  const letIn = async () => {
    for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
      while (isOver()) await othersFirst();
      next();
      // It reads its message, and waits again behind the others.
      await null;
      waiting.shift();
    }
  };

  return {
    get isFree() {
      return waiting.length === 0 && !isOver();
    },
    mine: () =>
      new Promise((resolve) => {
        if (waiting.push(resolve) === 1) void letIn();
      }),
  };
}
