import * as z from "zod";
import { alertCounts, countAlerts } from "../core/alerts/counts.ts";
import { dutyAt } from "../core/oncall/duty.ts";
import { listSchedules } from "../core/oncall/schedules.ts";
import { getProject, listProjects } from "../core/projects/projects.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { Reader } from "../ground/store/store.ts";
import type { Tenant } from "./tenant.ts";

const readiness = z.object({
  status: z.enum(["ok", "degraded", "failed"]),
  wrong: z.array(z.object({ check: z.string(), detail: z.string() })),
});

const sourceHeard = z.object({
  name: z.string(),
  kind: z.string(),
  last_event_at: z.int().nullable().meta({ description: "Null if no event is known." }),
  hour: z.int().meta({ description: "Events of the last hour, since the start." }),
  minutes: z.array(z.int()).length(60).meta({ description: "By the minute, newest last." }),
});

const channelStates = z.object({
  works: z.int(),
  failing: z.int(),
  off: z.int(),
  never_tried: z.int(),
});

const projectNow = z.object({
  project: z.string(),
  alerts: alertCounts,
  rules: z.int(),
  channels: channelStates,
  on_call: z.array(
    z.object({
      schedule: z.string(),
      account_id: z.string().nullable(),
      accounts: z.array(z.string()).meta({
        description: "Everybody whom it has on call now, the one above first.",
      }),
      off: z.boolean().meta({
        description: "Nobody is promised now, as the schedule's `covers` says.",
      }),
    }),
  ),
  sources: z.array(sourceHeard),
});

/** The state of everything, in one answer. Times are Unix seconds. */
export const overviewAnswer = z
  .object({
    at: z.int(),
    alerts: alertCounts,
    ready: readiness.nullable().meta({ description: "Null where the service answers for it." }),
    projects: z.array(projectNow),
    next: z.string().nullable().meta({ description: "`after` of the next page; null at the end." }),
  })
  .meta({ id: "Overview" });
export type Overview = z.output<typeof overviewAnswer>;
export type ProjectNow = z.output<typeof projectNow>;

/** `accountId`: the person whose own alerts are counted. Projects are sorted by name and begin behind `after`. */
export function overviewOf(
  tenant: Tenant,
  { accountId, ...page }: { accountId: string; after: string; limit: number },
): Overview {
  const { store, clock } = tenant;
  const at = unixSeconds(clock);
  const { projects, next } = listProjects(store, page);
  const heard = new Map(tenant.ingest.heardLately().map((one) => [one.sourceId, one]));
  return {
    at,
    alerts: countAlerts(store, { accountId }),
    ready: readyOf(tenant),
    next,
    projects: projects.map(({ name }) => projectOf(store, { name, accountId, at, heard })),
  };
}

/** The same for one project. Throws 404. */
export function projectNowOf(
  { store, clock, ingest }: Tenant,
  of: { name: string; accountId: string },
): ProjectNow {
  const heard = new Map(ingest.heardLately().map((one) => [one.sourceId, one]));
  return projectOf(store, { ...of, at: unixSeconds(clock), heard });
}

function readyOf({ host }: Tenant): Overview["ready"] {
  if (host === null) return null;
  const { status, checks } = host.health();
  const wrong = checks.filter(({ ok }) => !ok);
  return {
    status,
    wrong: wrong.map(({ name, detail, named }) => ({ check: name, detail: named ?? detail })),
  };
}

interface Heard {
  lastEventAt: number | null;
  minutes: number[];
}

interface SourceRow {
  id: number;
  name: string;
  kind: string;
}

const SOURCES = "SELECT id, name, kind FROM sources WHERE project_id = ? ORDER BY created_at, name";
const RULES = "SELECT count(*) FROM rules WHERE project_id = ?";
const CHANNELS = `SELECT coalesce(sum(enabled = 0), 0) AS off,
    coalesce(sum(enabled = 1 AND (consecutive_failures > 0 OR last_error IS NOT NULL)), 0) AS failing,
    coalesce(sum(enabled = 1 AND consecutive_failures = 0 AND last_error IS NULL AND worked_at IS NULL), 0) AS never_tried,
    coalesce(sum(enabled = 1 AND consecutive_failures = 0 AND last_error IS NULL AND worked_at IS NOT NULL), 0) AS works
  FROM integrations WHERE project_id = ?`;

const SILENT: readonly number[] = new Array(60).fill(0);

function projectOf(
  reader: Reader,
  of: { name: string; accountId: string; at: number; heard: ReadonlyMap<number, Heard> },
): ProjectNow {
  const { name, accountId, at, heard } = of;
  const project = getProject(reader, name);
  const projectId = project.id;
  const channels = reader
    .sql<[id: number], z.output<typeof channelStates>>(CHANNELS)
    .get(projectId);
  return {
    project: name,
    alerts: countAlerts(reader, { projectId, accountId }),
    rules: reader.sql<[id: number], number>(RULES).pluck().get(projectId) ?? 0,
    channels: channels ?? { works: 0, failing: 0, off: 0, never_tried: 0 },
    on_call: listSchedules(reader, project).map(({ name: schedule }) => {
      const duty = dutyAt(reader, { projectId, name: schedule }, at);
      const accounts = [...(duty?.onDuty ?? [])];
      return { schedule, account_id: accounts[0] ?? null, accounts, off: duty?.off ?? false };
    }),
    sources: reader
      .sql<[id: number], SourceRow>(SOURCES)
      .all(projectId)
      .map(({ id, ...source }) => {
        const minutes = heard.get(id)?.minutes ?? [...SILENT];
        const hour = minutes.reduce((sum, n) => sum + n, 0);
        return { ...source, last_event_at: heard.get(id)?.lastEventAt ?? null, hour, minutes };
      }),
  };
}
