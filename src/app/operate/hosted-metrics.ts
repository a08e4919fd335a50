import { version } from "../../ground/kit/assets.ts";
import { turns } from "../../ground/kit/turns.ts";
import type { DatabaseLoad, LaneLoad } from "../../hosted/registry/load.ts";
import type { Refusals } from "../../web/http/refusals.ts";
import { type HostedState, hostedHealth } from "./hosted-health.ts";
import { counter, exposition, gauge, type Metric, refusalMetrics, turnMetrics } from "./metrics.ts";

/** Metrics of this node in the Prometheus text format. They contain nothing of a tenant. */
export function hostedMetrics(state: HostedState, refusals: Refusals): string {
  const { open, opened, closed, broken, lost } = state.tenants();
  const { boxes } = state.seen();
  const isReady = hostedHealth(state).status !== "failed";
  return exposition([
    gauge("box_info", "The program's version.", [{ labels: { version }, value: 1 }]),
    gauge("box_hosted_ready", "1 while /readyz is 200.", isReady ? 1 : 0),
    ...turnMetrics(turns),
    ...pageMetrics(state),
    ...nodeMetrics(state),
    gauge(
      "box_hosted_boxes_watched",
      "Boxes whose missing heartbeats are reported.",
      boxes?.watched ?? 0,
    ),
    gauge("box_hosted_boxes_unheard", "Boxes whose heartbeat is missing.", boxes?.unheard ?? 0),
    gauge(
      "box_hosted_silence_held",
      "1 while no missing heartbeat is reported because most boxes send none.",
      boxes?.held === true ? 1 : 0,
    ),
    gauge("box_hosted_tenants_open", "Hosted tenants open now.", open),
    gauge("box_hosted_tenants_broken", "Hosted tenants whose data can't be read.", broken),
    counter("box_hosted_tenants_opened_total", "Times that a hosted tenant was opened.", opened),
    counter("box_hosted_tenants_closed_total", "Times that a hosted tenant was closed.", closed),
    counter(
      "box_hosted_tenants_lost_total",
      "Times that this node gave a hosted tenant up: the database didn't answer, or another node had it.",
      lost,
    ),
    ...sentMetrics(state),
    ...refusalMetrics(refusals),
  ]);
}

function sentMetrics(state: HostedState): Metric[] {
  const sent = state.sent();
  if (sent === null) return [];
  return [
    counter(
      "box_hosted_forwarded_total",
      "Requests that were sent on to the node of their tenant.",
      sent.forwarded,
    ),
    counter(
      "box_hosted_forward_faults_total",
      "Requests that this node didn't reach the node of their tenant for, or whose answer broke off.",
      sent.failed,
    ),
  ];
}

function pageMetrics(state: HostedState): Metric[] {
  const pages = state.pages();
  return [
    counter(
      "box_hosted_pages_total",
      "Pages that boxes requested, by result; boxes repeat those that are neither paged nor duplicate.",
      pages.map(({ end, n }) => ({ labels: { end }, value: n })),
    ),
    counter(
      "box_hosted_page_seconds_total",
      "Seconds that these requests took in all, by result.",
      pages.map(({ end, seconds }) => ({ labels: { end }, value: seconds })),
    ),
    counter(
      "box_hosted_pushes_total",
      "Pushes to phones, each once, by result.",
      state.pushes().map(({ end, n }) => ({ labels: { end }, value: n })),
    ),
  ];
}

/** Metrics of a node that shares its registry; [] for one that is alone. */
function nodeMetrics(state: HostedState): Metric[] {
  const { draining, database } = state.node();
  if (database === null) return [];
  const { unheardMs, aheadMs, nodes, load } = database;
  return [
    gauge("box_hosted_nodes", "Live nodes, as this node last read.", nodes ?? 0),
    gauge("box_hosted_draining", "1 while this node accepts nothing more.", draining ? 1 : 0),
    gauge(
      "box_hosted_leads",
      "1 where this node runs a job that only one node runs at a time, by job.",
      Object.entries(state.seen().leads).map(([job, leads]) => ({
        labels: { job },
        value: leads ? 1 : 0,
      })),
    ),
    gauge(
      "box_hosted_clock_ahead_seconds",
      "Seconds by which this node's clock is ahead of the database's.",
      (aheadMs ?? 0) / 1000,
    ),
    gauge(
      "box_hosted_database_unheard_seconds",
      "Seconds since the database last committed for this node, which is due every 2 s.",
      unheardMs / 1000,
    ),
    ...databaseMetrics(load),
  ];
}

function databaseMetrics({ lanes, faults, batches }: DatabaseLoad): Metric[] {
  const byLane = (name: string, help: string, of: keyof Omit<LaneLoad, "lane">): Metric =>
    (name.endsWith("_total") ? counter : gauge)(
      `box_hosted_database_${name}`,
      help,
      lanes.map((lane) => ({ labels: { lane: lane.lane }, value: lane[of] })),
    );
  const byBatch = (name: string, help: string, of: "statements" | "rows"): Metric =>
    counter(
      `box_hosted_database_${name}`,
      help,
      Object.entries(batches).map(([ask, n]) => ({ labels: { ask }, value: n[of] })),
    );
  return [
    byLane("places", "Most connections to the database.", "places"),
    byLane("busy", "Connections in use.", "busy"),
    byLane("waiting", "Statements that wait for a connection.", "waiting"),
    byLane("statements_total", "Statements that ended, with or without success.", "statements"),
    byLane("statement_seconds_total", "Seconds that these statements took in all.", "seconds"),
    counter(
      "box_hosted_database_faults_total",
      "Failed attempts, by kind; undone and lost ones are repeated while there is time.",
      Object.entries(faults).map(([kind, value]) => ({ labels: { kind }, value })),
    ),
    byBatch("batches_total", "Statements that serve several requests, by kind.", "statements"),
    byBatch("batched_total", "Requests that they served, by kind.", "rows"),
  ];
}
