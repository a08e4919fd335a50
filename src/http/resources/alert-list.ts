import { z } from "zod";
import { type Alert, alertState, listedAlert, toAlert } from "../../alerts/alert.ts";
import { latestMinutes } from "../../alerts/buckets.ts";
import { alertCounts, countAlerts } from "../../alerts/counts.ts";
import { type AlertPage, listAlerts } from "../../alerts/list.ts";
import { LONGEST_QUERY } from "../../alerts/query.ts";
import { triage } from "../../alerts/triage.ts";
import { unixSeconds } from "../../kit/clock.ts";
import { ServiceError } from "../../kit/errors.ts";
import { text } from "../../kit/fields.ts";
import { getProject } from "../../projects/projects.ts";
import type { Store } from "../../store/store.ts";
import { queryInteger } from "../fields.ts";
import { type Route, route } from "../route.ts";

const flag = z
  .enum(["true", "false"], { error: "must be true or false" })
  .transform((value) => value === "true");

const states = z
  .string()
  .transform((value) => [...new Set(value.split(","))])
  .pipe(z.array(alertState).min(1))
  .meta({ type: "string", description: "One or more of open, acknowledged, resolved: `a,b`." });

const listQuery = z.strictObject({
  project: text(128).optional(),
  state: states.optional(),
  rule: text(200).optional(),
  since_seq: queryInteger(0).optional(),
  before: queryInteger(0).optional(),
  limit: queryInteger(1, 500).optional(),
  min_level: queryInteger(0).optional(),
  q: text(LONGEST_QUERY)
    .describe(
      '`#130`, `level:error`, `rule:"slow payments"`, `key:provider=acme`, `project:shop`; other words are looked for in template, last message and identifiers.',
    )
    .optional(),
  mine: flag.optional().describe("Those that paged, were given to or acknowledged by the caller."),
  silenced: flag.optional(),
  order: z
    .enum(["newest", "need"], { error: "must be newest or need" })
    .describe("need: open ones by level, then the newest; others by their last change.")
    .optional(),
  after: text(60).describe("`next` of a page in this order.").optional(),
  counts: flag.describe("How many there are of each sort, of the project or of all.").optional(),
  buckets: queryInteger(1, 360).describe("Events of each of so many minutes.").optional(),
});
type ListQuery = z.output<typeof listQuery>;

/** contract §15, Alerts, and §34. */
export const alertListRoutes: Route[] = [
  route({
    method: "GET",
    path: "/v1/alerts",
    name: "listAlerts",
    tag: "Alerts",
    summary:
      "A page of alerts, newest first; with since_seq by updated_seq, rising (go on until next is null: a page may be short)",
    plane: "api",
    additive: true,
    query: listQuery,
    status: 200,
    answer: z.object({
      alerts: z.array(listedAlert),
      next: z.string().nullable(),
      complete: z.boolean().optional().meta({
        description: "false: the time was up before the page was full; next goes on.",
      }),
      counts: alertCounts.optional(),
    }),
    errors: ["invalid_request", "not_found"],
    handle: async ({ tenant: { store }, query, actor: { accountId } }) => {
      const { project, counts, buckets } = query;
      const projectId = project === undefined ? undefined : getProject(store, project).id;
      const page = await pageOf(store, query, { projectId, accountId });
      const alerts = buckets === undefined ? page.alerts : withMinutes(store, page.alerts, buckets);
      return {
        ...{ ...page, alerts },
        ...(counts === true && { counts: countAlerts(store, { projectId, accountId }) }),
      };
    },
  }),
];

function withMinutes(store: Store, alerts: readonly Alert[], most: number) {
  const ids = alerts.map(({ id }) => Number(id));
  const minutes = latestMinutes(store, ids, { at: unixSeconds(store.clock), most });
  return alerts.map((alert) => ({ ...alert, buckets: minutes.get(Number(alert.id)) ?? [] }));
}

/** What only a walk through alerts knows. */
const WALKED = ["min_level", "q", "mine", "silenced", "order", "after"] as const;

async function pageOf(
  store: Store,
  query: ListQuery,
  { projectId, accountId }: { projectId: number | undefined; accountId: string },
): Promise<AlertPage & { complete?: boolean }> {
  const { state, rule, since_seq, before, limit = 100 } = query;
  const walked = WALKED.filter((name) => query[name] !== undefined);
  const common = { projectId, states: state, rule, limit };
  const [first] = walked;
  if (first === undefined) return listAlerts(store, { ...common, sinceSeq: since_seq, before });
  if (since_seq !== undefined || before !== undefined) {
    const reason = "goes with after, not with since_seq or before";
    throw new ServiceError("invalid_request", `/${first}: ${reason}`, {
      details: [{ field: `/${first}`, reason }],
    });
  }
  const { rows, ...page } = await triage(store, {
    ...common,
    ...{ order: query.order ?? "newest", after: query.after },
    ...{ minLevel: query.min_level, q: query.q, silenced: query.silenced },
    mine: query.mine === true ? accountId : undefined,
  });
  return { alerts: rows.map(toAlert), ...page };
}
