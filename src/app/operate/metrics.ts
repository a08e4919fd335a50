import { version } from "../../ground/kit/assets.ts";
import type { LoopTurns } from "../../ground/kit/turns.ts";
import type { Dispatcher } from "../../out/outbox/dispatcher.ts";
import { oldestWaiting } from "../../out/outbox/rows.ts";
import type { Tenant } from "../../tenant/tenant.ts";
import type { Refusals } from "../../web/http/refusals.ts";
import type { BoxRole } from "../../web/http/role.ts";
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
    counter(
      "box_requests_refused_total",
      "Requests refused, by the noun of their route and error code; lines of NDJSON count one each.",
      refusals.requests().map(({ n, ...labels }) => ({ labels, value: n })),
    ),
    counter(
      "box_auth_failures_total",
      "Requests with wrong credentials, by plane and kind of credential.",
      refusals.failures().map(({ n, ...labels }) => ({ labels, value: n })),
    ),
  ];
}

/** Long turns of the event loop, by the work that took most of each. */
export function turnMetrics(turns: LoopTurns): Metric[] {
  const all = [...turns.all()].map(([work, sum]) => ({ labels: { work }, ...sum }));
  return [
    counter(
      "box_long_turns_total",
      "Turns of the event loop of 5 ms and more, by the work that took most of each.",
      all.map(({ labels, count }) => ({ labels, value: count })),
    ),
    counter(
      "box_long_turns_seconds_total",
      "Seconds that these turns took.",
      all.map(({ labels, ms }) => ({ labels, value: ms / 1000 })),
    ),
  ];
}

/** What this machine is for the box, as a label. */
export const roleMetric = (role: BoxRole["role"]): Metric =>
  gauge("box_role", "What this machine is for the box.", [{ labels: { role }, value: 1 }]);

export const upgradeMetric = (hasFailed: boolean): Metric =>
  gauge("box_upgrade_failed", "Whether a machine that stands by couldn't upgrade the box.", [
    { value: hasFailed ? 1 : 0 },
  ]);

/** Messages at the ports for senders, by result. */
export function portMetric(ports: readonly PortCounts[]): Metric {
  const sums = new Map<string, { labels: Record<string, string>; value: number }>();
  for (const { port, outcomes } of ports)
    for (const [outcome, n] of Object.entries(outcomes)) {
      const known = sums.get(`${port} ${outcome}`);
      if (known) known.value += n;
      else sums.set(`${port} ${outcome}`, { labels: { port, outcome }, value: n });
    }
  return counter(
    "box_port_messages_total",
    "Messages at the ports for senders, by result; all but taken are lost, or refused by smtp.",
    [...sums.values()],
  );
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
    gauge("box_info", "The program's version.", [{ labels: { version }, value: 1 }]),
    ...ingestMetrics(tenant),
    gauge(
      "box_alerts",
      "Alerts that are not resolved.",
      states.map(({ state, n }) => ({ labels: { state }, value: n })),
    ),
    ...outboxMetrics(tenant),
    gauge("box_backup_age_seconds", "Seconds since the last proved backup, -1 = never.", age ?? -1),
    gauge("box_pull_parked", "Readers that wait in a long poll.", tenant.waiters.parked),
  ];
}

function ingestMetrics(tenant: Tenant): Metric[] {
  const ingest = tenant.ingest.stats();
  return [
    counter("box_ingest_accepted_total", "Events committed.", ingest.accepted),
    counter(
      "box_ingest_unmatched_total",
      "Events committed that no rule of their project matched.",
      unmatched(tenant),
    ),
    counter(
      "box_ingest_refused_total",
      "Events refused, by source and error code.",
      refused(tenant),
    ),
    counter("box_ingest_shed_total", "Events refused before any write.", ingest.shed),
    counter("box_ingest_batches_total", "Transactions with events.", ingest.batches),
    gauge("box_ingest_waiting", "Events waiting for a commit.", ingest.waiting),
    gauge("box_templates", "Templates in memory.", ingest.templates),
    counter(
      "box_templates_overflow_total",
      "Messages above the limit of templates.",
      ingest.templatesOverflowed,
    ),
    counter(
      "box_hour_counts_overflow_total",
      "Events of a day beyond the templates and identifiers that are counted by the hour.",
      ingest.hoursOverflowed,
    ),
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

function metric(type: Metric["type"]) {
  return (name: string, help: string, values: number | Metric["values"]): Metric => ({
    name,
    help,
    type,
    values: typeof values === "number" ? [{ value: values }] : values,
  });
}

export const counter = metric("counter");
export const gauge = metric("gauge");

function attempts(name: string, help: string, { counts }: Dispatcher): Metric {
  return counter(name, help, [
    { labels: { outcome: "delivered" }, value: counts.well },
    { labels: { outcome: "failed" }, value: counts.failed },
  ]);
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
