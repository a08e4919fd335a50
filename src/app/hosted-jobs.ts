import type { Clock } from "../ground/kit/clock.ts";
import { ServiceError } from "../ground/kit/errors.ts";
import type { Log } from "../ground/kit/log.ts";
import { byLeader } from "../hosted/nodes/leader.ts";
import type { PageDeps } from "../hosted/page.ts";
import type { HeartbeatLook } from "../hosted/registry/heartbeats.ts";
import type { NodeJob } from "../hosted/registry/nodes.ts";
import type { Outage } from "../hosted/registry/uptime.ts";
import type { TenantRegistry } from "../hosted/tenant-registry.ts";
import { checkSilence, LOOK_EVERY_SECONDS } from "../hosted/watch.ts";
import type { Job } from "../tenant/scheduler.ts";
import type { ApnsState } from "./operate/hosted-health.ts";

const PURGE_SECONDS = 60;
/** After a purge of this many rows there may be more. */
const PURGE_SLICE = 100;
const SOON_MS = 200;
const HOUSE_MS = 1_000;
const BEAT_SECONDS = 10;
/** When a job runs again for which the database didn't answer. */
const AWAY_MS = 2_000;

/** What the jobs report for readiness and for silences. */
interface HostedEyes {
  sawApns(kind: ApnsState): void;
  /** null: another node does the survey. */
  sawBoxes(look: HeartbeatLook | null): void;
  sawOutage(outage: Outage): void;
  /** Whether this node runs a job that only one node does at a time. */
  sawLead(job: NodeJob, leads: boolean): void;
}

/** The hosted service's own jobs. */
export function hostedJobs(
  deps: PageDeps & HostedEyes & { tenants: TenantRegistry; log: Log },
): Job[] {
  const { registry, tenants, clock } = deps;
  const sawSilence = (leads: boolean) => {
    deps.sawLead("silence", leads);
    if (!leads) deps.sawBoxes(null);
  };
  const jobs: Job[] = [
    {
      name: "apns",
      async run(now) {
        deps.sawApns((await registry.apns.get()).kind);
        return (now + LOOK_EVERY_SECONDS) * 1000;
      },
    },
    {
      name: "alive",
      async run(now) {
        const outage = await registry.uptime.beat();
        if (outage !== null) deps.sawOutage(outage);
        return (now + BEAT_SECONDS) * 1000;
      },
    },
    byLeader(registry.nodes, "silence", silenceJob(deps), {
      everyMs: LOOK_EVERY_SECONDS * 1000,
      onAsked: sawSilence,
    }),
    byLeader(registry.nodes, "purge", purgeJob(deps), {
      everyMs: PURGE_SECONDS * 1000,
      onAsked: (leads) => deps.sawLead("purge", leads),
    }),
  ];
  const lookAtTenants: Job = {
    name: "tenants",
    async run() {
      const more = await tenants.look();
      return clock.now() + (more ? SOON_MS : HOUSE_MS);
    },
  };
  const all = [lookAtTenants, ...jobs];
  return registry.nodes === null ? all : all.map((job) => patient(job, clock));
}

function silenceJob(deps: PageDeps & HostedEyes & { log: Log }): Job {
  const logHold = holdLog(deps.log);
  return {
    name: "silence",
    async run(now) {
      const { look, told } = await checkSilence(deps);
      logHold(look);
      deps.sawBoxes(look);
      for (const { tenantId, news } of told)
        deps.log.warn({ tenant: tenantId, news }, "a box's people were notified");
      return (now + LOOK_EVERY_SECONDS) * 1000;
    },
  };
}

function purgeJob({ registry, clock }: PageDeps): Job {
  return {
    name: "purge",
    async run(now) {
      const forgotten = await registry.purge();
      return forgotten >= PURGE_SLICE ? clock.now() + SOON_MS : (now + PURGE_SECONDS) * 1000;
    },
  };
}

/** That the database doesn't answer is reported by readiness, and isn't the job's failure. */
function patient(job: Job, clock: Clock): Job {
  return {
    ...job,
    async run(now) {
      try {
        return await job.run(now);
      } catch (error) {
        if (error instanceof ServiceError && error.code === "not_ready")
          return clock.now() + AWAY_MS;
        throw error;
      }
    },
  };
}

/** Logs, once each, when silent boxes are no longer reported, and when they are again. */
function holdLog(log: Log): (look: HeartbeatLook) => void {
  let since: number | null = null;
  return ({ at, heldSince, watched, unheard }) => {
    if (heldSince !== null && since === null)
      log.error(
        { watched, unheard },
        "most boxes send no heartbeat: this service is probably cut off, so no missing heartbeat is reported",
      );
    if (heldSince === null && since !== null)
      log.warn(
        { watched, unheard, heldSeconds: Math.max(0, at - since) },
        "boxes send heartbeats again: missing ones count from now on",
      );
    since = heldSince;
  };
}
