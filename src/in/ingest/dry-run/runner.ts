import { addonPlaces, threadSource } from "../../../ground/kit/assets.ts";
import { type Clock, unixSeconds } from "../../../ground/kit/clock.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { createWorkThread } from "../../../ground/kit/thread.ts";
import type { DryRunFound, DryRunInput } from "./dry-run.ts";
import type { DryRunReply, DryRunWork } from "./dry-run-worker.ts";

export type DryRunner = ReturnType<typeof createDryRunner>;

/** After this time it answers with what it has. */
const BUDGET_MS = 4500;
/** One more block of very long lines, and the thread is ended. */
const LIMITS = { deadlineMs: 9000, heapMb: 256, longestQueue: 0 };

/** Runs dry runs on a store's kept lines, one at a time, in a thread that exists while it is needed. */
export function createDryRunner(store: { path: string; clock: Clock }) {
  const source = threadSource("src/in/ingest/dry-run/dry-run-worker.ts");
  const { path, clock } = store;
  const thread = createWorkThread({ source, clock, ...LIMITS });
  return {
    /** Throws ServiceError overloaded while another one runs, and where this one takes too much. */
    async run(projectId: number, input: DryRunInput): Promise<DryRunFound> {
      const order = { projectId, input, now: unixSeconds(clock), budgetMs: BUDGET_MS };
      const heard = await thread.ask({ ...order, path, env: addonPlaces() } satisfies DryRunWork);
      if ("said" in heard) {
        const reply = heard.said as DryRunReply;
        if ("answer" in reply) return reply.answer;
        throw new Error(`a dry run failed: ${reply.failed}`);
      }
      if (heard.ended === "busy" || heard.ended === "closed")
        throw overloaded("Another rule is being tried: try again shortly.");
      if (heard.ended === "late" || heard.ended === "heap")
        throw overloaded("Trying this rule takes too long: ask for fewer days.");
      throw new Error(`a dry run failed: ${heard.ended}`);
    },
    close: () => thread.close(),
  };
}

function overloaded(message: string): ServiceError {
  return new ServiceError("overloaded", message, { retryAfter: 5 });
}
