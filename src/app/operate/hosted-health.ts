import type { Clock } from "../../ground/kit/clock.ts";
import type { PageCounts } from "../../hosted/page-counts.ts";
import type { PushCounts } from "../../hosted/push-counts.ts";
import type { StoredApns } from "../../hosted/registry/apns-settings.ts";
import type { HeartbeatLook } from "../../hosted/registry/heartbeats.ts";
import type { DatabaseLoad } from "../../hosted/registry/load.ts";
import type { NodeJob } from "../../hosted/registry/nodes.ts";
import type { TenantRegistryStats } from "../../hosted/tenant-registry.ts";
import { type Health, type HealthCheck, summarize } from "../../tenant/health.ts";
import type { Scheduler } from "../../tenant/scheduler.ts";

/** The state of the APNs key; `unknown` before it was first read. */
export type ApnsState = StoredApns["kind"] | "unknown";

/** As of the latest survey. `boxes`: null before the first one, and while another node does it. */
export interface SeenState {
  apns: ApnsState;
  boxes: HeartbeatLook | null;
  /** Whether this node runs each job that only one node does at a time; {} where it is alone. */
  leads: Partial<Record<NodeJob, boolean>>;
}

export interface NodeState {
  /** It is about to stop. */
  draining: boolean;
  /**
   * null where the registry is in this process. `unheardMs`: time since the last commit for this node, which tries one
   * every 2 s. `aheadMs`: how far this node's clock is ahead of the database's; null while unknown.
   */
  database: {
    unheardMs: number;
    aheadMs: number | null;
    /** Nodes that are alive, with this one; null before the first answer. */
    nodes: number | null;
    load: DatabaseLoad;
  } | null;
}

/** What the hosted service knows of itself, without any request. */
export interface HostedState {
  clock: Clock;
  scheduler: Scheduler;
  seen(): SeenState;
  node(): NodeState;
  tenants(): TenantRegistryStats;
  pages(): ReturnType<PageCounts["all"]>;
  pushes(): ReturnType<PushCounts["all"]>;
  /** Requests that were sent on to other nodes; null where none is. */
  sent(): { forwarded: number; failed: number } | null;
}

const LATE_MS = 30_000;
const AWAY_MS = 10_000;
/** Requests with clocks 300 s off are refused. Boxes are warned before that. */
const CLOCK_ODD_MS = 5_000;
const CLOCK_WRONG_MS = 60_000;

/** Whether the service can page (contract §10). */
export function hostedHealth(state: HostedState): Health {
  return summarize([
    workCheck(state),
    apnsCheck(state),
    tenantsCheck(state),
    boxesCheck(state),
    ...nodeChecks(state.node()),
  ]);
}

/** Checks of a node that shares its registry. A node that is alone and isn't stopping has none. */
function nodeChecks({ draining, database }: NodeState): HealthCheck[] {
  const leaves: HealthCheck = {
    name: "node",
    ok: !draining,
    severity: "failed",
    detail: draining ? "it accepts nothing more: it is about to stop" : "it serves",
  };
  if (database === null) return draining ? [leaves] : [];
  const { unheardMs, aheadMs } = database;
  const away = unheardMs > AWAY_MS;
  const off = Math.abs(aheadMs ?? 0);
  const seconds = Math.round(off / 1000);
  const way = (aheadMs ?? 0) > 0 ? "ahead of" : "behind";
  return [
    leaves,
    {
      name: "database",
      ok: !away,
      severity: "failed",
      detail: away
        ? `it has committed nothing for ${Math.round(unheardMs / 1000)} s: no page can be taken`
        : "it answers",
    },
    {
      name: "clock",
      ok: off <= CLOCK_ODD_MS,
      severity: off > CLOCK_WRONG_MS ? "failed" : "degraded",
      detail:
        off <= CLOCK_ODD_MS
          ? "it agrees with the database's"
          : `this node's clock is ${seconds} s ${way} the database's: set it right`,
    },
  ];
}

/** A service manager restarts the service when this is false. */
export function isHostedAlive({ clock, scheduler }: HostedState): boolean {
  return clock.mono() - scheduler.lastTick < LATE_MS;
}

/** Each of its jobs uses the registry, so a failing job means that the registry fails. */
function workCheck({ clock, scheduler }: HostedState): HealthCheck {
  const late = clock.mono() - scheduler.lastTick;
  const failing = [...scheduler.failures.keys()];
  const ok = late < LATE_MS && failing.length === 0;
  const still = `no job has run for ${Math.round(late / 1000)} s`;
  const bad = failing.length > 0 ? `jobs failing: ${failing.join(", ")}` : still;
  return { name: "registry", ok, severity: "failed", detail: ok ? "boxes are watched" : bad };
}

/** Whether boxes reach this service, by their heartbeats. */
function boxesCheck(state: HostedState): HealthCheck {
  const { boxes } = state.seen();
  const base = { name: "boxes", severity: "degraded" as const };
  if (boxes === null) {
    const isShared = state.node().database !== null;
    const detail = isShared ? "another node checks, or none has yet" : "not checked yet";
    return { ...base, ok: true, detail };
  }
  const { held, watched, unheard, twins } = boxes;
  const detail = held
    ? `${unheard} of ${watched} boxes send no heartbeat: check the network and load balancer before this service; ` +
      "no missing heartbeat is reported until more than half send theirs"
    : `${watched - unheard} of ${watched} boxes send heartbeats`;
  const two = twins === 0 ? "" : `; ${twins} keys are used by two boxes each: the log names them`;
  return { ...base, ok: !held && twins === 0, detail: `${detail}${two}` };
}

const APNS: Record<ApnsState, string> = {
  none: "no APNs key is set, so no phone rings: box hosted apns set",
  unreadable: "the APNs key can't be decrypted: set it again, or put hosted.key back",
  set: "an APNs key is set",
  unknown: "not checked yet",
};

function apnsCheck(state: HostedState): HealthCheck {
  const { apns } = state.seen();
  const ok = apns === "set" || apns === "unknown";
  return { name: "apns", ok, severity: "degraded", detail: APNS[apns] };
}

function tenantsCheck(state: HostedState): HealthCheck {
  const { broken, open } = state.tenants();
  const detail =
    broken === 0 ? `${open} open` : `${broken} can't be read and are closed: restore them`;
  return { name: "tenants", ok: broken === 0, severity: "degraded", detail };
}
