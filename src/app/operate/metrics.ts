import { version } from "../../ground/kit/assets.ts";
import type { LoopTurns } from "../../ground/kit/turns.ts";
import type { Dispatcher } from "../../out/outbox/dispatcher.ts";
import { oldestWaiting } from "../../out/outbox/rows.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Refusals } from "../../web/http/refusals.ts";
import type { PortCounts } from "../../web/intake/port.ts";
import { backupAge } from "./backup-health.ts";

export interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge";
  values: { labels?: Record<string, string>; value: number }[];
}

/** The tenant's metrics in the Prometheus text format. `ofHost`: metrics beside the tenant's own. */
export function renderMetrics(tenant: Tenant, ofHost: readonly Metric[] = []): string {
  return exposition([...metricsOf(tenant), ...ofHost]);
}

/** Refused requests and wrong credentials, by kind, without any token or address. */
export function refusalMetrics(refusals: Refusals): Metric[] {
  return [
    {
      name: "box_requests_refused_total",
      help: "Requests refused, by the noun of their route and error code; lines of NDJSON count one each.",
      type: "counter",
      values: refusals.requests().map(({ n, ...labels }) => ({ labels, value: n })),
    },
    {
      name: "box_auth_failures_total",
      help: "Requests with wrong credentials, by plane and kind of credential.",
      type: "counter",
      values: refusals.failures().map(({ n, ...labels }) => ({ labels, value: n })),
    },
  ];
}

/** Long turns of the event loop, by the work that took most of each. */
export function turnMetrics(turns: LoopTurns): Metric[] {
  const all = [...turns.all()].map(([work, sum]) => ({ labels: { work }, ...sum }));
  return [
    {
      name: "box_long_turns_total",
      help: "Turns of the event loop of 5 ms and more, by the work that took most of each.",
      type: "counter",
      values: all.map(({ labels, count }) => ({ labels, value: count })),
    },
    {
      name: "box_long_turns_seconds_total",
      help: "Seconds that these turns took.",
      type: "counter",
      values: all.map(({ labels, ms }) => ({ labels, value: ms / 1000 })),
    },
  ];
}

/** Messages at the ports for senders, by result. */
export function portMetric(ports: readonly PortCounts[]): Metric {
  const sums = new Map<string, { labels: Record<string, string>; value: number }>();
  for (const { port, outcomes } of ports)
    for (const [outcome, n] of Object.entries(outcomes)) {
      const known = sums.get(`${port} ${outcome}`);
      if (known) known.value += n;
      else sums.set(`${port} ${outcome}`, { labels: { port, outcome }, value: n });
    }
  return {
    name: "box_port_messages_total",
    help: "Messages at the ports for senders, by result; all but taken are lost, or refused by smtp.",
    type: "counter",
    values: [...sums.values()],
  };
}

/** Metrics in the Prometheus text format 0.0.4. */
export function exposition(metrics: readonly Metric[]): string {
  return `${metrics.map(render).join("\n")}\n`;
}

function metricsOf(tenant: Tenant): Metric[] {
  const age = backupAge(tenant);
  const states = tenant.store
    .sql<[], { state: string; n: number }>(
      "SELECT state, count(*) AS n FROM alerts WHERE state <> 'resolved' AND drill = 0 GROUP BY state",
    )
    .all();
  return [
    {
      name: "box_info",
      help: "The program's version.",
      type: "gauge",
      values: [{ labels: { version }, value: 1 }],
    },
    ...ingestMetrics(tenant),
    {
      name: "box_alerts",
      help: "Alerts that are not resolved.",
      type: "gauge",
      values: states.map(({ state, n }) => ({ labels: { state }, value: n })),
    },
    ...outboxMetrics(tenant),
    gauge("box_backup_age_seconds", "Seconds since the last proved backup, -1 = never.", age ?? -1),
    {
      name: "box_pull_parked",
      help: "Readers that wait in a long poll.",
      type: "gauge",
      values: [{ value: tenant.waiters.parked }],
    },
  ];
}

function ingestMetrics(tenant: Tenant): Metric[] {
  const ingest = tenant.ingest.stats();
  return [
    {
      name: "box_ingest_accepted_total",
      help: "Events committed.",
      type: "counter",
      values: [{ value: ingest.accepted }],
    },
    {
      name: "box_ingest_unmatched_total",
      help: "Events committed that no rule of their project matched.",
      type: "counter",
      values: unmatched(tenant),
    },
    {
      name: "box_ingest_refused_total",
      help: "Events refused, by source and error code.",
      type: "counter",
      values: refused(tenant),
    },
    {
      name: "box_ingest_shed_total",
      help: "Events refused before any write.",
      type: "counter",
      values: [{ value: ingest.shed }],
    },
    {
      name: "box_ingest_batches_total",
      help: "Transactions with events.",
      type: "counter",
      values: [{ value: ingest.batches }],
    },
    {
      name: "box_ingest_waiting",
      help: "Events waiting for a commit.",
      type: "gauge",
      values: [{ value: ingest.waiting }],
    },
    {
      name: "box_templates",
      help: "Templates in memory.",
      type: "gauge",
      values: [{ value: ingest.templates }],
    },
    {
      name: "box_templates_overflow_total",
      help: "Messages above the limit of templates.",
      type: "counter",
      values: [{ value: ingest.templatesOverflowed }],
    },
  ];
}

function refused({ ingest, store }: Tenant): Metric["values"] {
  const name = store.sql<[id: number], string>("SELECT name FROM projects WHERE id = ?").pluck();
  return ingest.refused.all().flatMap(({ projectId, source, counts }) => {
    const project = String(name.get(projectId) ?? projectId);
    return Object.entries(counts).map(([code, value]) => ({
      labels: { project, source, code },
      value,
    }));
  });
}

function unmatched({ ingest, store }: Tenant): Metric["values"] {
  const name = store.sql<[id: number], string>("SELECT name FROM projects WHERE id = ?").pluck();
  return ingest.tallies().map(({ projectId, source, unmatched: value }) => ({
    labels: { project: String(name.get(projectId) ?? projectId), source },
    value,
  }));
}

/** Deliveries and runs of actions: how many wait, for how long, and how attempts end. */
function outboxMetrics({ store, clock, outbox }: Tenant): Metric[] {
  const waiting = oldestWaiting(store);
  const count = (rows: string) =>
    store.sql<[], number>(`SELECT count(*) FROM ${rows}`).pluck().get() ?? 0;
  const shut = count("integrations WHERE enabled = 0 AND failing_since IS NOT NULL");
  const failing = count("integrations WHERE enabled = 1 AND consecutive_failures > 0");
  const runs = count("executions WHERE status = 'pending'");
  const age = waiting.oldest === null ? 0 : Math.max(0, clock.now() / 1000 - waiting.oldest);
  return [
    gauge("box_deliveries_pending", "Deliveries waiting to be sent.", waiting.n),
    gauge(
      "box_pages_pending",
      "Pages to people's contacts waiting to be sent.",
      count("pages WHERE status = 'pending'"),
    ),
    gauge("box_deliveries_oldest_seconds", "Age of the oldest delivery that waits.", age),
    attempts("box_delivery_attempts_total", "Attempts at deliveries.", outbox.deliveries),
    gauge("box_deliveries_in_flight", "Attempts under way.", outbox.deliveries.inFlight),
    gauge("box_integrations_failing", "Channels whose last attempt failed.", failing),
    gauge("box_integrations_shut", "Channels that the circuit breaker or a 410 disabled.", shut),
    gauge("box_executions_pending", "Runs of actions waiting.", runs),
    attempts("box_execution_attempts_total", "Attempts at runs of actions.", outbox.executions),
  ];
}

export function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: "gauge", values: [{ value }] };
}

function attempts(name: string, help: string, { counts }: Dispatcher): Metric {
  return {
    name,
    help,
    type: "counter",
    values: [
      { labels: { outcome: "delivered" }, value: counts.well },
      { labels: { outcome: "failed" }, value: counts.failed },
    ],
  };
}

function render({ name, help, type, values }: Metric): string {
  const lines = values.map(({ labels, value }) => {
    const inside = Object.entries(labels ?? {}).map(
      ([key, text]) => `${key}="${text.replace(/[\\"\n]/g, "_")}"`,
    );
    return `${name}${inside.length > 0 ? `{${inside.join(",")}}` : ""} ${value}`;
  });
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n");
}
