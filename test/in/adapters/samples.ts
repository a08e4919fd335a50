import type { InRequest } from "../../../src/in/adapters/adapter.ts";
import { plainMail } from "../../../src/in/adapters/email/mail.ts";
import { sent } from "./clean.ts";
import { hookSamples } from "./hook-samples.ts";
import { lineSamples } from "./line-samples.ts";
import { cronMail } from "./mails.ts";

/** Requests as senders write them, by kind. Tests cut, change and fuzz them. */
export const samples: Readonly<Record<string, readonly InRequest[]>> = {
  ...hookSamples,
  alertmanager: [sent(JSON.stringify(alertmanagerGroup())), sent(JSON.stringify(oldGroup()))],
  ...lineSamples,
  email: [sent(JSON.stringify(plainMail(Buffer.from(cronMail()))))],
  prometheus: [sent(JSON.stringify(prometheusBatch()), { path: "/api/v2/alerts" })],
  grafana: [sent(JSON.stringify(grafanaGroup())), sent(JSON.stringify(grafanaRule()))],
  opsgenie: [
    sent(JSON.stringify(opsgenieAlert()), { path: "/v2/alerts" }),
    sent('{"note":"on it","user":"alice@example.com"}', { path: "/v2/alerts/a%2Fb/acknowledge" }),
    sent('{"message":"worse"}', {
      path: "/jsm/ops/integration/v2/alerts/x/message",
      method: "PUT",
    }),
    sent("{}", { path: "/v2/heartbeats/nightly%20backup/ping" }),
  ],
  oncall: [
    sent(JSON.stringify(oncallAlert())),
    sent(JSON.stringify({ message: "a\nb", severity: "minor", x: { y: [1, 2] } }), {
      path: "/webhook/",
    }),
    sent(JSON.stringify(alertmanagerGroup()), { path: "/alertmanager" }),
    sent(JSON.stringify(grafanaRule()), { path: "/grafana/" }),
    sent("", { path: "/alertmanager/heartbeat/" }),
  ],
  goalert: [
    sent('{"summary":"Disk full","details":"96 %","meta":{"host":"db-01"}}', { path: "/generic" }),
    sent("summary=Disk&dedup=d&action=close", {
      path: "/generic/incoming",
      header: (name) => (name === "content-type" ? "application/x-www-form-urlencoded" : undefined),
    }),
    sent('{"MONITORNAME":"Shop","STATUS":"DOWN"}', { path: "/site24x7" }),
    sent(JSON.stringify(alertmanagerGroup()), { path: "/prometheusalertmanager" }),
  ],
  victorops: [sent(JSON.stringify(victoropsAlert()), { path: "/storage" })],
  pagerduty: [
    sent(JSON.stringify(pagerdutyEvent()), { path: "/v2/enqueue" }),
    sent(JSON.stringify({ routing_key: "0".repeat(32), payload: { summary: "Deployed 1.2" } }), {
      path: "/v2/change/enqueue",
    }),
    sent(
      JSON.stringify({
        service_key: "0".repeat(32),
        event_type: "trigger",
        incident_key: "srv01/HTTP",
        description: "FAILURE for HTTP",
        client: "Watch",
        details: { "load avg": 0.75 },
      }),
      { path: "/generic/2010-04-15/create_event.json" },
    ),
  ],
};

function pagerdutyEvent() {
  return {
    routing_key: "0123456789abcdef0123456789abcdef",
    event_action: "trigger",
    dedup_key: "backup/nas-02",
    payload: {
      summary: "Backup of nas-02 failed: volume is read-only",
      source: "nas-02",
      severity: "error",
      component: "zfs",
      class: "backup",
      timestamp: "2026-01-05T03:12:44.120+0000",
      custom_details: { "free space": "1%", attempts: 3, last: { ok: false, log: ["a", "b"] } },
    },
    images: [{ src: "https://nas.example.com/graph.png", alt: "Pool usage" }],
    links: [{ href: "https://nas.example.com/jobs/17", text: "Job 17" }],
    client: "Nightly backup",
    client_url: "https://nas.example.com/",
  };
}

export function alertmanagerGroup() {
  const alert = {
    status: "firing",
    labels: { alertname: "DiskFull", instance: "db-01:9100", severity: "critical", größe: "«1»" },
    annotations: {
      summary: "Disk db-01:9100 is 96.4% full",
      description: "Writes stop at 100%.\nRunbook below.",
      runbook_url: "https://runbooks.example.com/disk",
      image_url: "https://example.com/disk.png",
    },
    startsAt: "2026-01-05T08:59:07.123456789Z",
    endsAt: "0001-01-01T00:00:00Z",
    generatorURL: "http://prometheus.example.com/graph?g0.expr=up&g0.tab=1",
    fingerprint: "56303bf2b20108de",
  };
  return {
    version: "4",
    status: "firing",
    receiver: "all",
    truncatedAlerts: 2,
    groupKey: '{}:{alertname="DiskFull"}',
    groupLabels: { alertname: "DiskFull" },
    commonLabels: { alertname: "DiskFull" },
    commonAnnotations: {},
    externalURL: "http://alertmanager.example.com:9093",
    alerts: [
      alert,
      { ...alert, status: "resolved", endsAt: "2026-01-05T09:00:00+01:00", fingerprint: "9f0c" },
      { labels: {} },
    ],
  };
}

/** Alertmanager's format before version 4: no fingerprint, a number for the group's key. */
function oldGroup() {
  return {
    version: "3",
    groupKey: 5_615_590_933_959_184,
    alerts: [{ labels: { __name__: "ping", job: "pinger" }, annotations: {}, startsAt: "" }],
  };
}

function prometheusBatch() {
  const alert = {
    labels: { alertname: "DiskFull", instance: "db-01:9100", severity: "warning" },
    annotations: { summary: "Disk db-01 is full" },
    startsAt: "2026-01-05T08:59:07.123Z",
    endsAt: "2026-01-05T09:03:07.123Z",
    generatorURL: "http://prometheus.example.com/graph",
  };
  return [
    alert,
    { ...alert, endsAt: "2026-01-05T08:59:30Z" },
    { labels: { a: "b" }, startsAt: "2026-01-05T09:00:00Z", endsAt: "2026-01-05T08:00:00Z" },
  ];
}

export function grafanaGroup() {
  const [alert] = alertmanagerGroup().alerts;
  return {
    version: "1",
    orgId: 1,
    status: "firing",
    state: "alerting",
    title: "[FIRING:1] High",
    externalURL: "https://grafana.example.com/",
    alerts: [
      {
        ...alert,
        labels: { alertname: "High latency", grafana_folder: "Shop", __alert_rule_uid__: "be1v" },
        annotations: { summary: "p99 is 4.2 s", __value_string__: "[ var='A' ]" },
        generatorURL: "?orgId=1",
        dashboardURL: "/d/shop?orgId=1",
        silenceURL: "",
        values: { A: 4.2, B: null },
        imageURL: "https://grafana.example.com/shot.png",
        ruleUID: "be1v",
      },
      {
        status: "firing",
        labels: { alertname: "DatasourceNoData", rulename: "High" },
        values: null,
      },
    ],
  };
}

/** The format of Grafana's alerting before version 9. */
export function grafanaRule() {
  return {
    title: "[Alerting] CPU",
    ruleId: 7,
    ruleName: "CPU",
    state: "alerting",
    message: "boom!",
    ruleUrl: "https://grafana.example.com/dashboard/db/alarms",
    evalMatches: [{ value: 97.007606, metric: "user", tags: null }],
    tags: { severity: "critical" },
  };
}

export function opsgenieAlert() {
  return {
    message: "Disk full",
    alias: "disk/db-01",
    description: "96.4%",
    priority: "P1",
    responders: [
      { name: "NOC", type: "team" },
      { username: "trinity@example.com", type: "user" },
    ],
    tags: ["storage"],
    details: { region: "eu" },
    entity: "db-01",
    source: "cli",
  };
}

export function oncallAlert() {
  return {
    alert_uid: "7c0b4d7e",
    title: "Pump 3 stopped",
    state: "alerting",
    image_url: "https://scada.example.com/pump3.png",
    link_to_upstream_details: "https://scada.example.com/pumps/3",
    message: "Pressure fell to 0.4 bar\nMotor current 0 A",
  };
}

export function victoropsAlert() {
  return {
    message_type: "CRITICAL",
    entity_id: "disk/db-01",
    state_start_time: 1_767_603_500,
    entity_display_name: "Disk full",
    state_message: "96.4%\nof 2 TB",
    monitoring_tool: "Icinga",
    nested: { a: [1, "b"] },
  };
}
