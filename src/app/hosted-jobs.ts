import type { PageDeps } from "../hosted/page.ts";
import type { HeartbeatLook } from "../hosted/registry/heartbeats.ts";
import type { Outage } from "../hosted/registry/uptime.ts";
import type { TenantHouse } from "../hosted/tenant-house.ts";
import { checkSilence, LOOK_EVERY_SECONDS } from "../hosted/watch.ts";
import type { Log } from "../kit/log.ts";
import type { ApnsState } from "../operate/hosted-health.ts";
import type { Job } from "../tenant/scheduler.ts";

const PURGE_SECONDS = 60;
/** Where a purge forgot this many rows there may be more. */
const PURGE_SLICE = 100;
const SOON_MS = 200;
const HOUSE_MS = 1_000;
const BEAT_SECONDS = 10;

/** The hosted role's own due work. */
export function hostedJobs(
  deps: PageDeps & {
    house: TenantHouse;
    log: Log;
    sawApns(kind: ApnsState): void;
    sawBoxes(look: HeartbeatLook): void;
    sawOutage(outage: Outage): void;
  },
): Job[] {
  const { registry, house, log } = deps;
  const logHold = holdLog(log);
  return [
    {
      name: "tenants",
      async run() {
        const more = await house.look();
        return deps.clock.now() + (more ? SOON_MS : HOUSE_MS);
      },
    },
    {
      name: "silence",
      async run(now) {
        deps.sawApns((await registry.apns.get()).kind);
        const { look, told } = await checkSilence(deps);
        logHold(look);
        deps.sawBoxes(look);
        for (const { tenantId, news } of told)
          log.warn({ tenant: tenantId, news }, "a box's people were told");
        return (now + LOOK_EVERY_SECONDS) * 1000;
      },
    },
    {
      name: "purge",
      async run(now) {
        const forgotten = await registry.purge();
        return forgotten >= PURGE_SLICE ? deps.clock.now() + SOON_MS : (now + PURGE_SECONDS) * 1000;
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
  ];
}

/** Says when looks begin to be held and when they no longer are, each once. */
function holdLog(log: Log): (look: HeartbeatLook) => void {
  let since: number | null = null;
  return ({ at, heldSince, watched, unheard }) => {
    if (heldSince !== null && since === null)
      log.error(
        { watched, unheard },
        "most boxes are not heard: this service is cut off, so nobody is told of a silence",
      );
    if (heldSince === null && since !== null)
      log.warn(
        { watched, unheard, heldSeconds: Math.max(0, at - since) },
        "boxes are heard again: their silence counts from now on",
      );
    since = heldSince;
  };
}
