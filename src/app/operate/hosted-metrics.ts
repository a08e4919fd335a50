import { version } from "../../ground/kit/assets.ts";
import type { DatabaseLoad, LaneLoad } from "../../hosted/registry/load.ts";
import type { Refusals } from "../../web/http/refusals.ts";
import { type HostedState, hostedHealth } from "./hosted-health.ts";
import { exposition, gauge, type Metric, refusalMetrics } from "./metrics.ts";

/** Metrics of this node in the Prometheus text format. They contain nothing of a tenant. */
export function hostedMetrics(state: HostedState, refusals: Refusals): string {
  const { open, opened, closed, broken } = state.tenants();
  const { boxes } = state.seen();
  const isReady = hostedHealth(state).status !== "failed";
  return exposition([
    {
      name: "box_info",
      help: "The program's version.",
      type: "gauge",
      values: [{ labels: { version }, value: 1 }],
    },
    gauge("box_hosted_ready", "1 while /readyz is 200.", isReady ? 1 : 0),
    ...pageMetrics(state),
    ...nodeMetrics(state),
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

function pageMetrics(state: HostedState): Metric[] {
  const pages = state.pages();
  return [
    {
      name: "box_hosted_pages_total",
      help: "Pages that boxes asked for, by how that ended; what is neither paged nor duplicate is asked for again.",
      type: "counter",
      values: pages.map(({ end, n }) => ({ labels: { end }, value: n })),
    },
    {
      name: "box_hosted_page_seconds_total",
      help: "What they took in all, by how they ended.",
      type: "counter",
      values: pages.map(({ end, seconds }) => ({ labels: { end }, value: seconds })),
    },
    {
      name: "box_hosted_pushes_total",
      help: "Pushes to phones, each once, by how they ended.",
      type: "counter",
      values: state.pushes().map(({ end, n }) => ({ labels: { end }, value: n })),
    },
  ];
}

/** Metrics of a node that shares its registry; [] for one that is alone. */
function nodeMetrics(state: HostedState): Metric[] {
  const { draining, database } = state.node();
  if (database === null) return [];
  const { unheardMs, aheadMs, nodes, load } = database;
  return [
    gauge("box_hosted_nodes", "Nodes that live, as of this one's latest word.", nodes ?? 0),
    gauge("box_hosted_draining", "1 while this node takes on nothing more.", draining ? 1 : 0),
    {
      name: "box_hosted_leads",
      help: "1 where this node does what only one does at a time, by job.",
      type: "gauge",
      values: Object.entries(state.seen().leads).map(([job, leads]) => ({
        labels: { job },
        value: leads ? 1 : 0,
      })),
    },
    gauge(
      "box_hosted_clock_ahead_seconds",
      "By how much this node's clock is ahead of the database's.",
      (aheadMs ?? 0) / 1000,
    ),
    gauge(
      "box_hosted_database_unheard_seconds",
      "Since the database last committed this node's word, which is due each 2 s.",
      unheardMs / 1000,
    ),
    ...databaseMetrics(load),
  ];
}

function databaseMetrics({ lanes, faults, batches }: DatabaseLoad): Metric[] {
  const byLane = (name: string, help: string, of: keyof Omit<LaneLoad, "lane">): Metric => ({
    name: `box_hosted_database_${name}`,
    help,
    type: name.endsWith("_total") ? "counter" : "gauge",
    values: lanes.map((lane) => ({ labels: { lane: lane.lane }, value: lane[of] })),
  });
  const byBatch = (name: string, help: string, of: "statements" | "rows"): Metric => ({
    name: `box_hosted_database_${name}`,
    help,
    type: "counter",
    values: Object.entries(batches).map(([ask, n]) => ({ labels: { ask }, value: n[of] })),
  });
  return [
    byLane("places", "Connections to the database that there may be.", "places"),
    byLane("busy", "Connections in use.", "busy"),
    byLane("waiting", "Who waits for a connection.", "waiting"),
    byLane("statements_total", "Statements that ended, well or not.", "statements"),
    byLane("statement_seconds_total", "What they took in all.", "seconds"),
    {
      name: "box_hosted_database_faults_total",
      help: "Tries that failed, by kind; undone and lost ones are asked again in the time that there is.",
      type: "counter",
      values: Object.entries(faults).map(([kind, value]) => ({ labels: { kind }, value })),
    },
    byBatch("batches_total", "Statements for many at once, by what they ask.", "statements"),
    byBatch("batched_total", "How many they were for.", "rows"),
  ];
}
