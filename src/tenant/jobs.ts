import type { Sweep } from "../alerts/sweep.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { Job } from "./scheduler.ts";

/** The due work of one tenant, in the order it is looked at. */
export function tenantJobs(parts: { watch: ClockWatch; sweep: Sweep }): Job[] {
  return [parts.watch.job, timedJob(parts)];
}

/** Everything timed on alerts: ladders, renotify, auto-resolve (decisions §5). */
function timedJob({ watch, sweep }: { watch: ClockWatch; sweep: Sweep }): Job {
  return {
    name: "timed",
    wokenBy: ["due"],
    run(now) {
      if (!watch.ready()) return (now + 1) * 1000;
      const next = sweep.run(watch.upSince());
      return next === null ? null : next * 1000;
    },
  };
}
