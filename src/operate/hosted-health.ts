import type { StoredApns } from "../hosted/registry/apns-settings.ts";
import type { HeartbeatLook } from "../hosted/registry/heartbeats.ts";
import type { HouseStats } from "../hosted/tenant-house.ts";
import type { Refusals } from "../http/refusals.ts";
import { version } from "../kit/assets.ts";
import type { Clock } from "../kit/clock.ts";
import { type Health, type HealthCheck, summarize } from "../tenant/health.ts";
import type { Scheduler } from "../tenant/scheduler.ts";
import { exposition, gauge, refusalMetrics } from "./metrics.ts";

/** How the APNs key stands; `unknown` before the first look. */
export type ApnsState = StoredApns["kind"] | "unknown";

/** What the hosted role knows of itself without asking anybody. */
export interface HostedState {
  clock: Clock;
  scheduler: Scheduler;
  /** As of the latest look; `boxes` is null before the first. */
  seen(): { apns: ApnsState; boxes: HeartbeatLook | null };
  house(): HouseStats;
}

const LATE_MS = 30_000;

/** Whether the service is able to page (contract §10). */
export function hostedHealth(state: HostedState): Health {
  return summarize([workCheck(state), apnsCheck(state), tenantsCheck(state), boxesCheck(state)]);
}

/** What a supervisor restarts for. */
export function isHostedAlive({ clock, scheduler }: HostedState): boolean {
  return clock.mono() - scheduler.lastTick < LATE_MS;
}

/** Each of its jobs reads or writes the registry, so one that fails says that the registry does. */
function workCheck({ clock, scheduler }: HostedState): HealthCheck {
  const late = clock.mono() - scheduler.lastTick;
  const failing = [...scheduler.failures.keys()];
  const ok = late < LATE_MS && failing.length === 0;
  const still = `no look at due work for ${Math.round(late / 1000)} s`;
  const bad = failing.length > 0 ? `jobs failing: ${failing.join(", ")}` : still;
  return { name: "registry", ok, severity: "failed", detail: ok ? "boxes are watched" : bad };
}

/** Whether the boxes reach this service, as far as their heartbeats tell. */
function boxesCheck(state: HostedState): HealthCheck {
  const { boxes } = state.seen();
  const base = { name: "boxes", severity: "degraded" as const };
  if (boxes === null) return { ...base, ok: true, detail: "not looked at yet" };
  const { held, watched, unheard } = boxes;
  const detail = held
    ? `${unheard} of ${watched} boxes are not heard: check the network and load balancer before this service; ` +
      "nobody is told of a silence until more than half are heard"
    : `${watched - unheard} of ${watched} boxes are heard`;
  return { ...base, ok: !held, detail };
}

const APNS: Record<ApnsState, string> = {
  none: "no APNs key is set, so no phone rings: box hosted apns set",
  unreadable: "the APNs key can't be unsealed: set it again, or put hosted.key back",
  set: "an APNs key is set",
  unknown: "not looked at yet",
};

function apnsCheck(state: HostedState): HealthCheck {
  const { apns } = state.seen();
  const ok = apns === "set" || apns === "unknown";
  return { name: "apns", ok, severity: "degraded", detail: APNS[apns] };
}

function tenantsCheck(state: HostedState): HealthCheck {
  const { broken, open } = state.house();
  const detail =
    broken === 0 ? `${open} open` : `${broken} can't be read and are shut: restore them`;
  return { name: "tenants", ok: broken === 0, severity: "degraded", detail };
}

export function hostedMetrics(state: HostedState, refusals: Refusals): string {
  const { open, opened, closed, broken } = state.house();
  const { boxes } = state.seen();
  return exposition([
    {
      name: "box_info",
      help: "The program's version.",
      type: "gauge",
      values: [{ labels: { version }, value: 1 }],
    },
    gauge("box_hosted_boxes_watched", "Boxes whose silence would be news.", boxes?.watched ?? 0),
    gauge("box_hosted_boxes_unheard", "Those that miss a heartbeat.", boxes?.unheard ?? 0),
    gauge(
      "box_hosted_silence_held",
      "1 while nobody is told of a silence because most boxes are not heard.",
      boxes?.held === true ? 1 : 0,
    ),
    gauge("box_hosted_tenants_open", "Hosted tenants open now.", open),
    gauge("box_hosted_tenants_broken", "Hosted tenants whose data can't be read.", broken),
    {
      name: "box_hosted_tenants_opened_total",
      help: "Openings of hosted tenants.",
      type: "counter",
      values: [{ value: opened }],
    },
    {
      name: "box_hosted_tenants_closed_total",
      help: "Closings of hosted tenants.",
      type: "counter",
      values: [{ value: closed }],
    },
    ...refusalMetrics(refusals),
  ]);
}
