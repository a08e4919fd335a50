import type { Job } from "../../tenant/scheduler.ts";
import type { NodeJob, Nodes } from "../registry/nodes.ts";

/**
 * A job that only one of the nodes does at a time: the others ask in vain each time that it is due, until the one that
 * does it has said nothing of it for 20 s. `onAsked`: told each time whether it is this node's to do, and that it isn't where nobody could
 * say. `nodes`: null where one process alone serves.
 */
export function byLeader(
  nodes: Nodes | null,
  name: NodeJob,
  job: Job,
  { everyMs, onAsked }: { everyMs: number; onAsked?: (leads: boolean) => void },
): Job {
  if (nodes === null) return job;
  return {
    ...job,
    async run(now) {
      let leads = false;
      try {
        leads = await nodes.lead(name);
      } finally {
        onAsked?.(leads);
      }
      if (leads) return job.run(now);
      return now * 1000 + everyMs;
    },
  };
}
