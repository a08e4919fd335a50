import * as z from "zod";
import { type Alert, alertState, listedAlert } from "../../../core/alerts/alert.ts";
import { latestMinutes } from "../../../core/alerts/buckets.ts";
import { alertCounts, countAlerts } from "../../../core/alerts/counts.ts";
import { alertFacets, facetsAnswer } from "../../../core/alerts/facets.ts";
import { groupAnswer, toGroups } from "../../../core/alerts/group-facts.ts";
import { groupAlerts } from "../../../core/alerts/groups.ts";
import { labelFault } from "../../../core/alerts/label-query.ts";
import { type AlertPage, listAlerts } from "../../../core/alerts/list.ts";
import { type AlertListQuery, alertListQuery, readAlertQuery } from "../../../core/alerts/query.ts";
import { toAlerts } from "../../../core/alerts/shown.ts";
import { triage } from "../../../core/alerts/triage.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { unixSeconds } from "../../../ground/kit/clock.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { Store } from "../../../ground/store/store.ts";
import type { Route } from "../route.ts";
import { inTenant, routesIn } from "../scope.ts";

const alerts = routesIn(inTenant, { at: "/alerts", tag: "Alerts", additive: true });

/** contract §15, Alerts, and §34. */
export const alertListRoutes: Route[] = [
  alerts.get("", {
    name: "listAlerts",
    summary:
      "Alerts, newest first. With `since_seq`: those that changed after it, by rising `updated_seq`. A page may hold fewer than `limit`: read on until `next` is null",
    query: alertListQuery,
    answer: z.object({
      alerts: z.array(listedAlert).meta({ description: "Empty with `group`." }),
      groups: z.array(groupAnswer).optional().meta({
        description: "With `group`: made over all that match, before a page is cut.",
      }),
      next: z.string().nullable(),
      complete: z.boolean().optional().meta({
        description:
          "false: the time was up before the page was full; next goes on. Of groups: more match than are counted.",
      }),
      counts: alertCounts.optional(),
    }),
    errors: ["invalid_request", "not_found"],
    handle: async ({ tenant: { store }, query, actor: { accountId } }) => {
      const { project, counts, buckets, q = "" } = query;
      mustBeReadable(q);
      const projectId = project === undefined ? undefined : getProject(store, project).id;
      const of = { projectId, accountId };
      const page = await (query.group === undefined ? pageOf : groupsOf)(store, query, of);
      return {
        ...page,
        ...(buckets !== undefined && { alerts: withMinutes(store, page.alerts, buckets) }),
        ...(counts === true && { counts: countAlerts(store, { projectId, accountId }) }),
      };
    },
  }),
  alerts.get("/facets", {
    name: "listAlertFacets",
    summary: "Labels of the alerts that match, with how many have each value: for a filter bar",
    query: alertListQuery.pick({ state: true, q: true }),
    answer: facetsAnswer,
    handle: ({ tenant: { store }, query: { state = alertState.options, q = "" } }) => {
      mustBeReadable(q);
      return alertFacets(store, { states: state, q });
    },
  }),
];

function withMinutes(store: Store, alerts: readonly Alert[], most: number) {
  const ids = alerts.map(({ id }) => Number(id));
  const minutes = latestMinutes(store, ids, { at: unixSeconds(store.clock), most });
  return alerts.map((alert) => ({ ...alert, buckets: minutes.get(Number(alert.id)) ?? [] }));
}

/** What only a walk through alerts knows. */
const WALKED = ["min_level", "q", "mine", "silenced", "order", "after", "group"] as const;

/** Whose alerts of which project. */
interface Of {
  projectId: number | undefined;
  accountId: string;
}

async function pageOf(
  store: Store,
  query: AlertListQuery,
  of: Of,
): Promise<AlertPage & { complete?: boolean }> {
  const { state, rule, since_seq, before, limit } = query;
  const common = { projectId: of.projectId, states: state, rule, limit };
  if (WALKED.every((name) => query[name] === undefined))
    return listAlerts(store, { ...common, sinceSeq: since_seq, before });
  const filter = walkedFilter(query, of);
  const { rows, ...page } = await triage(store, {
    ...common,
    ...filter,
    order: query.order ?? "newest",
  });
  return { alerts: toAlerts(store, rows), ...page };
}

async function groupsOf(store: Store, query: AlertListQuery, of: Of) {
  const { state: states = ["open", "acknowledged"], rule, order, buckets, limit } = query;
  if (order !== "need") refuse("group", "can be used only with order=need");
  if (buckets !== undefined) refuse("buckets", "can't be used together with group");
  const page = await groupAlerts(store, {
    ...walkedFilter(query, of),
    rule,
    limit,
    projectId: of.projectId,
    isGroup: () => true,
    states: states.map((state) =>
      state === "resolved" ? refuse("state", "must be open or acknowledged with group") : state,
    ),
  });
  return { ...page, alerts: [], groups: await toGroups(store, page.groups) };
}

/** Throws 400 for patterns that can't be read or cost too much. */
function mustBeReadable(q: string): void {
  const fault = labelFault(readAlertQuery(q).labels);
  if (fault !== null) refuse("q", fault);
}

function walkedFilter(query: AlertListQuery, { accountId }: Of) {
  const { min_level, q, silenced, after, since_seq, before } = query;
  const walked = WALKED.find((name) => query[name] !== undefined);
  if (walked !== undefined && (since_seq !== undefined || before !== undefined))
    refuse(walked, "goes with after, not with since_seq or before");
  const mine = query.mine === true ? accountId : undefined;
  return { min_level, q, silenced, after, mine };
}

function refuse(name: keyof AlertListQuery, reason: string): never {
  throw new ServiceError("invalid_request", `/${name}: ${reason}`, {
    details: [{ field: `/${name}`, reason }],
  });
}
