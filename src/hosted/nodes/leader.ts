import type { Job } from "../../tenant/scheduler.ts";
import type { NodeJob, Nodes } from "../registry/nodes.ts";

/**
 * A job that only one of the nodes does at a time: the others ask in vain each time that it is due, until the one that
 * does it has said nothing of it for 20 s. `onOther`: called where it is another's to do. `nodes`: null where one process alone serves.
 */
export function byLeader(
  nodes: Nodes | null,
  name: NodeJob,
  job: Job,
  { everyMs, onOther }: { everyMs: number; onOther?: () => void },
): Job {
  if (nodes === null) return job;
  return {
    ...job,
    async run(now) {
      if (await nodes.lead(name)) return job.run(now);
      onOther?.();
      return now * 1000 + everyMs;
    },
  };
}
