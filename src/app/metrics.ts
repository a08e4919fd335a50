import { version } from "../kit/assets.ts";
import type { Tenant } from "../tenant/tenant.ts";

interface Metric {
  name: string;
  help: string;
  type: "counter" | "gauge";
  values: { labels?: Record<string, string>; value: number }[];
}

/** The tenant's metrics in the Prometheus text format. */
export function renderMetrics(tenant: Tenant): string {
  return `${metricsOf(tenant).map(render).join("\n")}\n`;
}

function metricsOf(tenant: Tenant): Metric[] {
  const ingest = tenant.ingest.stats();
  const states = tenant.store
    .sql("SELECT state, count(*) AS n FROM alerts WHERE state <> 'resolved' GROUP BY state")
    .all() as { state: string; n: number }[];
  const deliveries = tenant.store
    .sql("SELECT count(*) FROM deliveries WHERE status = 'pending'")
    .pluck()
    .get() as number;
  return [
    {
      name: "box_info",
      help: "The program's version.",
      type: "gauge",
      values: [{ labels: { version }, value: 1 }],
    },
    {
      name: "box_ingest_accepted_total",
      help: "Events committed.",
      type: "counter",
      values: [{ value: ingest.accepted }],
    },
    {
      name: "box_ingest_shed_total",
      help: "Events refused before any write.",
      type: "counter",
      values: [{ value: ingest.shed }],
    },
    {
      name: "box_ingest_batches_total",
      help: "Transactions that held events.",
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
      help: "Messages past the bound on templates.",
      type: "counter",
      values: [{ value: ingest.templatesOverflowed }],
    },
    {
      name: "box_alerts",
      help: "Alerts that are not resolved.",
      type: "gauge",
      values: states.map(({ state, n }) => ({ labels: { state }, value: n })),
    },
    {
      name: "box_deliveries_pending",
      help: "Deliveries waiting to go out.",
      type: "gauge",
      values: [{ value: deliveries }],
    },
    {
      name: "box_pull_parked",
      help: "Readers parked in a long poll.",
      type: "gauge",
      values: [{ value: tenant.waiters.parked }],
    },
  ];
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
