import * as z from "zod";
import type { SqlValue } from "../../ground/store/database.ts";
import type { Reader } from "../../ground/store/store.ts";

/** How many alerts there are of each sort. Kept by triggers, so that it costs the same at a million. */
export const alertCounts = z
  .object({
    open: z.int(),
    acknowledged: z.int(),
    resolved: z.int(),
    silenced: z.int().meta({ description: "Of the open ones: their news is held back." }),
    mine: z.int().meta({
      description:
        "Unresolved ones that paged the caller, were given to them or that they acknowledged; a thousand at most.",
    }),
  })
  .meta({ id: "AlertCounts" });
type AlertCounts = z.output<typeof alertCounts>;

const OPEN = "SELECT coalesce(sum(n), 0) FROM alert_counts WHERE what = 'open'";

/** How many are open, of all projects: each page says it. */
export const countOpen = (reader: Reader): number =>
  reader.sql<[], number>(OPEN).pluck().get() ?? 0;

const ALL = "SELECT what, sum(n) AS n FROM alert_counts GROUP BY what";
const OF_PROJECT = "SELECT what, n FROM alert_counts WHERE project_id = ?";
const MOST_MINE = 1000;
const MINE = `SELECT alert_id FROM alert_people WHERE account_id = ? AND state IN ('open', 'acknowledged') LIMIT ${MOST_MINE}`;

/** Of a project, or of all; whatever else a list filters by. */
export function countAlerts(
  reader: Reader,
  { projectId, accountId }: { projectId?: number | undefined; accountId: string },
): AlertCounts {
  const project = projectId === undefined ? [] : [projectId];
  const rows = reader
    .sql<SqlValue[], { what: Exclude<keyof AlertCounts, "mine">; n: number }>(
      projectId === undefined ? ALL : OF_PROJECT,
    )
    .all(...project);
  const counts = { open: 0, acknowledged: 0, resolved: 0, silenced: 0 };
  for (const { what, n } of rows) counts[what] = n;
  const mine = reader
    .sql<SqlValue[], number>(
      projectId === undefined
        ? `SELECT count(*) FROM (${MINE})`
        : `SELECT count(*) FROM (${MINE}) m WHERE (SELECT project_id FROM alerts WHERE id = m.alert_id) = ?`,
    )
    .pluck();
  return { ...counts, mine: mine.get(accountId, ...project) ?? 0 };
}
