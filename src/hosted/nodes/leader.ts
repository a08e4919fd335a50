import type { Job } from "../../tenant/scheduler.ts";
import type { NodeJob, Nodes } from "../registry/nodes.ts";

/**
 * Runs a job on one node at a time. The others ask for it each time that it is due, and get it when its node hasn't
 * renewed for 20 s. `onAsked` is called each time with whether this node has the job; false too where the registry
 * doesn't answer. `nodes`: null where one process serves alone.
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
