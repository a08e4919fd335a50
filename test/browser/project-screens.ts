import type { House } from "../support/house.ts";

/** Pages of a project, as `screensOf` names them. */
export function projectScreensOf({ box, report, alerts }: House): Record<string, string> {
  const idOf = (channel: string) =>
    box.tenant.store.sql("SELECT id FROM integrations WHERE name = ?").pluck().get(channel);
  const lastOf = (channel: string) =>
    box.tenant.store
      .sql("SELECT max(id) FROM deliveries WHERE integration_id = ?")
      .pluck()
      .get(idOf(channel));
  return {
    projects: "/p",
    project: "/p/shop",
    "project-connect": "/p/shop/connect",
    "project-connect-kind": "/p/shop/connect?kind=syslog",
    "project-source": "/p/shop/sources/app",
    "project-lines": "/p/shop/lines",
    "project-templates": "/p/shop/lines/templates",
    "project-config": "/p/shop/config",
    "project-actions": "/p/shop/actions",
    reports: "/p/payments/reports",
    "reports-none": "/p/shop/reports",
    "report-new": `/p/payments/reports/new?alert=${alerts.critical}`,
    report: `/p/payments/reports/${report.id}`,
    "report-entry": `/p/payments/reports/${report.id}?entry=${report.entry}`,
    channels: "/p/shop/channels",
    "channels-add": "/p/shop/channels?type=slack",
    channel: `/p/shop/channels/${idOf("tickets")}`,
    delivery: `/p/payments/channels/${idOf("ops")}/deliveries/${lastOf("ops")}`,
  };
}
