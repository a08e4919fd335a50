import * as z from "zod";
import { alertAnswer, alertId, getAlertRow } from "../../../core/alerts/alert.ts";
import {
  bulkAnswer,
  bulkByIds,
  bulkByQuery,
  bulkNamed,
  bulkWrite,
} from "../../../core/alerts/bulk.ts";
import { alertDetail, detailAnswer } from "../../../core/alerts/detail.ts";
import { pullAlerts } from "../../../core/alerts/list.ts";
import { offeredSilence, offerSilence, previewNarrowest } from "../../../core/alerts/narrowest.ts";
import { reachAnswer } from "../../../core/alerts/reach-report.ts";
import { readReach } from "../../../core/alerts/reached.ts";
import { toAlert } from "../../../core/alerts/shown.ts";
import { silencePreview } from "../../../core/alerts/silencing.ts";
import { readTimeline, timelineEntry } from "../../../core/alerts/timeline.ts";
import { acknowledge, resolve, snooze } from "../../../core/alerts/verbs.ts";
import { configVersion } from "../../../core/projects/project.ts";
import { configVersions, getProject } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { time } from "../../../ground/kit/fields.ts";
import { queryInteger, queryWait } from "../../../ground/kit/query-fields.ts";
import { othersFirst } from "../../../ground/kit/slices.ts";
import { aroundQuery, linesAround, readLinesAround } from "../../../in/ingest/lines-around.ts";
import type { Route } from "../route.ts";
import { inTenant, ofAlert, routesIn } from "../scope.ts";

const alert = routesIn(ofAlert, { tag: "Alerts" });
const alerts = routesIn(inTenant, { tag: "Alerts" });

/** contract §15, Alerts, and the additive reads of contract §5; lists have a file of their own. */
export const alertRoutes: Route[] = [
  alert.get("", {
    name: "getAlert",
    summary: "One alert",
    additive: true,
    answer: alertAnswer,
    read: (store, { alert }) => toAlert(store, getAlertRow(store, alert)),
  }),
  alert.get("/detail", {
    name: "getAlertDetail",
    summary:
      "Everything about an alert: who was notified, what comes next, how often it came, what was before",
    additive: true,
    answer: detailAnswer,
    read: (store, { alert }) => alertDetail(store, alert, unixSeconds(store.clock)),
  }),
  alert.get("/lines", {
    name: "getAlertLines",
    summary: "Kept log lines of the alert's project around its opening, with their variable parts",
    additive: true,
    query: aroundQuery,
    answer: linesAround,
    handle: ({ tenant, alert, query }) =>
      readLinesAround(tenant.store, alert, {
        query,
        rootOf: tenant.ingest.rootOf,
      }),
  }),
  alert.get("/timeline", {
    name: "getAlertTimeline",
    summary: "The timeline of an alert: who did what, and when",
    additive: true,
    answer: z.object({ timeline: z.array(timelineEntry) }),
    read: (store, { alert }) => ({
      timeline: readTimeline(store, getAlertRow(store, alert).id),
    }),
  }),
  alert.get("/pages", {
    name: "getAlertPages",
    summary: "Who was notified of an alert by what, when and with what result; who wasn't, and why",
    additive: true,
    answer: z.object({ pages: z.array(reachAnswer) }),
    read: (store, { alert }) => ({
      pages: readReach(store, alert, unixSeconds(store.clock)),
    }),
  }),
  alert.get("/silence", {
    name: "offerSilence",
    summary:
      "The narrowest silence that matches this alert; which other alerts it would match now, and how many it would have matched in the past seven days",
    additive: true,
    answer: offeredSilence,
    handle: ({ tenant: { store }, alert: id, actor: { accountId } }) =>
      offerSilence(store, id, { at: unixSeconds(store.clock), accountId, pause: othersFirst }),
  }),
  alert.post("/ack", {
    name: "acknowledgeAlert",
    summary:
      "Acknowledge an alert: its ladder and renotify stop, and its further events page nobody",
    answer: alertAnswer,
    write: (tx, { alert, actor }) => toAlert(tx, acknowledge(tx, alert, actor.accountId)),
  }),
  alert.post("/resolve", {
    name: "resolveAlert",
    summary: "Resolve an alert",
    answer: alertAnswer,
    write: (tx, { alert, actor: { accountId } }) => toAlert(tx, resolve(tx, alert, { accountId })),
  }),
  alert.post("/snooze", {
    name: "snoozeAlert",
    summary:
      "Acknowledge an alert until a time; if it is still open then, its ladder begins again at the first rung",
    additive: true,
    body: z.strictObject({
      until: time.describe("Unix seconds, in the future, at most 7 days from now."),
    }),
    answer: alertAnswer,
    errors: ["alert_resolved"],
    write: (tx, { alert, body: { until }, actor: { accountId } }) =>
      toAlert(tx, snooze(tx, alert, { until, accountId })),
  }),
  alerts.post("/alerts/bulk", {
    name: "changeAlerts",
    summary:
      "Acknowledge, un-acknowledge, resolve or silence many alerts: up to 200 by their ids, or all that a query finds. In several transactions: what was done before a failure stays done",
    additive: true,
    body: bulkWrite,
    answer: bulkAnswer,
    errors: ["not_found", "invalid_silence", "storage_full"],
    handle: ({ tenant: { store }, body: { ids, where, ...body }, actor: { accountId } }) => {
      const what = { ...body, accountId };
      if (where === undefined) return bulkByIds(store, ids ?? [], what);
      const { project, ...query } = where;
      const projectId = getProject(store, project).id;
      return bulkByQuery(store, { projectId, ...query }, what);
    },
  }),
  alerts.post("/alerts/bulk/preview", {
    name: "previewBulkSilence",
    summary:
      "Which other alerts silences of these alerts, as `bulk` makes them, would match now, and would have matched in the past seven days",
    additive: true,
    body: bulkNamed,
    answer: silencePreview,
    handle: ({ tenant: { store }, body, actor: { accountId } }) => {
      const of = { at: unixSeconds(store.clock), accountId, pause: othersFirst };
      return previewNarrowest(store, body.ids.map(alertId), of);
    },
  }),
  alerts.get("/pull", {
    name: "pullAlerts",
    summary: "Alerts that opened after `cursor`. With `wait`, the answer comes when one opens",
    noHead: true,
    query: z.strictObject({
      cursor: queryInteger(0)
        .default(0)
        .describe("`cursor` of the answer before. Default 0: from the first alert."),
      wait: queryWait,
    }),
    answer: z.object({
      alerts: z.array(alertAnswer),
      cursor: z.int(),
      config_versions: z.array(configVersion),
    }),
    handle: async ({ tenant, query, actor, signal }) => {
      const { cursor } = query;
      const answer = () => ({
        ...pullAlerts(tenant.store, cursor),
        config_versions: configVersions(tenant.store),
      });
      const parked = tenant.waiters.park(actor.keyId, query.wait * 1000, signal);
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
