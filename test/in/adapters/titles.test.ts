import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { adapters } from "../../../src/in/adapters/list.ts";
import { decodesCleanly } from "./clean.ts";
import { samples } from "./samples.ts";

type Row = readonly [title: string | null, labels: Readonly<Record<string, string>>];

/** For each event of a kind's samples: what its sender calls it, and its labels that name what it is about. */
const table: Readonly<Record<string, readonly Row[]>> = {
  alertmanager: [
    ["Disk db-01:9100 is 96.4% full", { alertname: "DiskFull", instance: "db-01:9100" }],
    ["Disk db-01:9100 is 96.4% full", { alertname: "DiskFull", instance: "db-01:9100" }],
    [null, { job: "pinger" }],
  ],
  prometheus: [
    ["Disk db-01 is full", { alertname: "DiskFull", instance: "db-01:9100" }],
    ["Disk db-01 is full", { alertname: "DiskFull", instance: "db-01:9100" }],
  ],
  pagerduty: [
    ["Backup of nas-02 failed: volume is read-only", { source: "nas-02", component: "zfs" }],
    ["Deployed 1.2", {}],
    ["FAILURE for HTTP", {}],
  ],
  grafana: [
    ["p99 is 4.2 s", { alertname: "High latency", "grafana.folder": "Shop" }],
    [null, { alertname: "DatasourceNoData" }],
    ["CPU", {}],
  ],
  opsgenie: [
    ["Disk full", { entity: "db-01", source: "cli" }],
    [null, {}],
    ["worse", {}],
  ],
  oncall: [
    ["Pump 3 stopped", {}],
    ["a", {}],
    ["Disk db-01:9100 is 96.4% full", {}],
    ["Disk db-01:9100 is 96.4% full", {}],
    ["CPU", {}],
  ],
  victorops: [["Disk full", {}]],
  goalert: [
    ["Disk full", {}],
    ["Disk", {}],
    [null, { monitor: "Shop" }],
    ["Disk db-01:9100 is 96.4% full", {}],
    ["Disk db-01:9100 is 96.4% full", {}],
  ],
  hook: [
    ["Disk full", {}],
    [null, {}],
    [null, {}],
    [null, {}],
    ["Disk full", {}],
    ["Disk full", {}],
    [null, {}],
    ["Disk full", {}],
    [null, {}],
  ],
  slack: [
    [null, {}],
    [null, {}],
  ],
  discord: [[null, {}]],
  gotify: [
    ["pve1: backup failed", {}],
    ["backup failed", {}],
  ],
  ntfy: [
    ["Füll: 96 % full", { topic: "box" }],
    ["Disk: 96 %", { topic: "box" }],
  ],
  sentry: [
    [
      "TypeError: x is undefined",
      { "sentry.group": "da110ed3826ad188", environment: "production" },
    ],
    [null, {}],
    [null, { environment: "production" }],
    ["said", { environment: "production" }],
    [
      "TypeError: x is undefined",
      { "sentry.group": "da110ed3826ad188", environment: "production" },
    ],
    [
      "TypeError: x is undefined",
      { "sentry.group": "da110ed3826ad188", environment: "production" },
    ],
  ],
  cloudevents: [
    [null, { "ce.source": "/shop", "ce.subject": "order/17" }],
    [null, { "ce.source": "/shop", "ce.subject": "order/17" }],
    [null, { "ce.source": "/shop", "ce.subject": "order/17" }],
    [null, { "ce.source": "/shop", "ce.subject": "Euro €" }],
  ],
  sns: [
    ["cpu", { alarm: "cpu", region: "EU (Ireland)" }],
    ["NAS", {}],
    [null, {}],
  ],
  email: [
    ["Cron <root@web-01> /usr/local/bin/backup", { from: "root@web-01.example.com (Cron Daemon)" }],
  ],
  syslog: [
    [null, { host: "db" }],
    [null, { host: "db" }],
    [null, {}],
    [null, { host: "U7PG2" }],
    [null, {}],
    [null, {}],
  ],
  otlp: [
    [null, { "service.name": "checkout" }],
    [null, { "service.name": "checkout" }],
    [null, { "service.name": "checkout" }],
    [null, { "service.name": "checkout" }],
    [null, { "service.name": "checkout" }],
    [null, { "service.name": "checkout" }],
  ],
  loki: [
    [null, {}],
    [null, {}],
    [null, {}],
    [null, {}],
    [null, {}],
    [null, {}],
    [null, {}],
    [null, {}],
  ],
  gelf: [
    [null, { host: "web-01" }],
    [null, { host: "web-01" }],
    [null, {}],
  ],
  elasticsearch: [
    [null, { "host.name": "web-01" }],
    [null, {}],
    [null, {}],
    [null, { "host.name": "web-01" }],
    [null, {}],
    [null, {}],
  ],
};

describe("what senders call an alert, and what it is about", () => {
  for (const adapter of adapters)
    test(adapter.kind, () => {
      const { labels } = adapter.identity;
      const events = (samples[adapter.kind] ?? []).flatMap(
        (request) => decodesCleanly(adapter, request)?.events ?? [],
      );
      assert.ok(events.length > 0, "it has samples");
      assert.deepEqual(
        events.map(({ title, keys }) => [
          title,
          Object.fromEntries(labels.flatMap((name) => (keys?.[name] ? [[name, keys[name]]] : []))),
        ]),
        table[adapter.kind] ?? "no rows in this table",
      );
      const seen = new Set(events.flatMap(({ keys }) => Object.keys(keys ?? {})));
      assert.ok(
        labels.length === 0 || labels.some((name) => seen.has(name)),
        "a sample has such a label",
      );
    });

  test("the table has no kind that is gone", () => {
    assert.deepEqual(Object.keys(table).sort(), adapters.map(({ kind }) => kind).sort());
  });
});
