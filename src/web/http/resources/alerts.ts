import { z } from "zod";
import { acknowledge } from "../../../core/alerts/acknowledge.ts";
import { alertAnswer, alertId, getAlertRow, toAlert } from "../../../core/alerts/alert.ts";
import { bulkAnswer, bulkByIds, bulkByQuery, bulkWrite } from "../../../core/alerts/bulk.ts";
import { alertDetail, detailAnswer } from "../../../core/alerts/detail.ts";
import { pullAlerts } from "../../../core/alerts/list.ts";
import { reachAnswer } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { resolve } from "../../../core/alerts/resolve.ts";
import { snooze } from "../../../core/alerts/snooze.ts";
import { readTimeline, timelineEntry } from "../../../core/alerts/timeline.ts";
import { configVersion } from "../../../core/projects/project.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { text, time } from "../../../ground/kit/fields.ts";
import { linesAround, readLinesAround } from "../../../in/ingest/lines-around.ts";
import { queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

const alertPath = z.strictObject({ id: z.string() });

/** contract §15, Alerts, and the additive reads of contract §5; lists have a file of their own. */
export const alertRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/alerts/{id}",
    name: "getAlert",
    tag: "Alerts",
    summary: "One alert",
    plane: "api",
    additive: true,
    params: alertPath,
    status: 200,
    answer: alertAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params }) => toAlert(getAlertRow(tenant.store, alertId(params.id))),
  }),
  route({
    method: "GET",
    path: "/v1/alerts/{id}/detail",
    name: "getAlertDetail",
    tag: "Alerts",
    summary:
      "All that is known of an alert: who knows of it, what comes next, how often, what was before",
    plane: "api",
    additive: true,
    params: alertPath,
    status: 200,
    answer: detailAnswer,
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) =>
      alertDetail(store, alertId(params.id), unixSeconds(store.clock)),
  }),
  route({
    method: "GET",
    path: "/v1/alerts/{id}/lines",
    name: "getAlertLines",
    tag: "Alerts",
    summary: "Kept lines of the alert's project about its opening, with what varies in them",
    plane: "api",
    additive: true,
    params: alertPath,
    query: z.strictObject({
      after: queryInteger(0).describe("Unix seconds; left out: five minutes before.").optional(),
      before: queryInteger(0).describe("Unix seconds; left out: five minutes after.").optional(),
      source: text(128).optional(),
      template: text(128).optional(),
      q: text(200).describe("In the message, upper and lower case alike.").optional(),
      min_level: queryInteger(0).describe("That, or above.").optional(),
      limit: queryInteger(1, 500).optional(),
    }),
    status: 200,
    answer: linesAround,
    errors: ["invalid_request", "not_found"],
    handle: ({ tenant, params, query: { limit = 100, ...query } }) =>
      readLinesAround(tenant.store, alertId(params.id), {
        query: { ...query, limit },
        rootOf: tenant.ingest.rootOf,
      }),
  }),
  route({
    method: "GET",
    path: "/v1/alerts/{id}/timeline",
    name: "getAlertTimeline",
    tag: "Alerts",
    summary: "What happened to an alert: who, what, when",
    plane: "api",
    additive: true,
    params: alertPath,
    status: 200,
    answer: z.object({ timeline: z.array(timelineEntry) }),
    errors: ["not_found"],
    handle: ({ tenant, params }) => ({
      timeline: readTimeline(tenant.store, getAlertRow(tenant.store, alertId(params.id)).id),
    }),
  }),
  route({
    method: "GET",
    path: "/v1/alerts/{id}/pages",
    name: "getAlertPages",
    tag: "Alerts",
    summary: "Who was told of an alert by what, when and with what outcome; who wasn't, and why",
    plane: "api",
    additive: true,
    params: alertPath,
    status: 200,
    answer: z.object({ pages: z.array(reachAnswer) }),
    errors: ["not_found"],
    handle: ({ tenant: { store }, params }) => ({
      pages: readReach(store, alertId(params.id), unixSeconds(store.clock)),
    }),
  }),
  route({
    method: "POST",
    path: "/v1/alerts/{id}/ack",
    name: "acknowledgeAlert",
    tag: "Alerts",
    summary: "Acknowledge an alert: its ladder and renotify stop",
    plane: "api",
    params: alertPath,
    status: 200,
    answer: alertAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params, actor }) =>
      toAlert(tenant.store.write((tx) => acknowledge(tx, alertId(params.id), actor.accountId))),
  }),
  route({
    method: "POST",
    path: "/v1/alerts/{id}/resolve",
    name: "resolveAlert",
    tag: "Alerts",
    summary: "Resolve an alert",
    plane: "api",
    params: alertPath,
    status: 200,
    answer: alertAnswer,
    errors: ["not_found"],
    handle: ({ tenant, params, actor }) =>
      toAlert(
        tenant.store.write((tx) => resolve(tx, alertId(params.id), { accountId: actor.accountId })),
      ),
  }),
  route({
    method: "POST",
    path: "/v1/alerts/{id}/snooze",
    name: "snoozeAlert",
    tag: "Alerts",
    summary:
      "Acknowledge an alert until then: after that it is open again, its ladder from the first step",
    plane: "api",
    additive: true,
    params: alertPath,
    body: z.strictObject({ until: time.describe("Ahead, at most 7 days.") }),
    status: 200,
    answer: alertAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "alert_resolved"],
    handle: ({ tenant, params, body: { until }, actor: { accountId } }) =>
      toAlert(tenant.store.write((tx) => snooze(tx, alertId(params.id), { until, accountId }))),
  }),
  route({
    method: "POST",
    path: "/v1/alerts/bulk",
    name: "changeAlerts",
    tag: "Alerts",
    summary:
      "Acknowledge, un-acknowledge, resolve or silence many alerts: up to 200 by their ids, or all that a query finds. In several transactions: what was done before a failure stays done",
    plane: "api",
    additive: true,
    body: bulkWrite,
    status: 200,
    answer: bulkAnswer,
    errors: ["invalid_request", "invalid_json", "not_found", "invalid_silence", "storage_full"],
    handle: ({ tenant: { store }, body: { ids, where, ...body }, actor: { accountId } }) => {
      const what = { ...body, accountId };
      if (where === undefined) return bulkByIds(store, ids ?? [], what);
      const { project, ...query } = where;
      const projectId = getProject(store, project).id;
      return bulkByQuery(store, { projectId, ...query }, what);
    },
  }),
  route({
    method: "GET",
    path: "/v1/pull",
    name: "pullAlerts",
    tag: "Alerts",
    summary: "Alerts newer than a cursor; with wait, parks until one opens",
    plane: "api",
    noHead: true,
    query: z.strictObject({
      cursor: queryInteger(0).optional(),
      wait: queryInteger(0, 60).optional(),
    }),
    status: 200,
    answer: z.object({
      alerts: z.array(alertAnswer),
      cursor: z.int(),
      config_versions: z.array(configVersion),
    }),
    errors: ["invalid_request"],
    handle: async ({ tenant, query, actor, signal }) => {
      const cursor = query.cursor ?? 0;
      const answer = () => ({
        ...pullAlerts(tenant.store, cursor),
        config_versions: configVersions(tenant.store),
      });
      const parked = tenant.waiters.park(actor.keyId, (query.wait ?? 0) * 1000, signal);
      const first = answer();
      if (first.alerts.length > 0) {
        parked.leave();
        return first;
      }
      await parked.woken;
      return answer();
    },
  }),
];
