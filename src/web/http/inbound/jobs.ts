import { projectOf } from "../../../core/projects/projects.ts";
import type { Source } from "../../../core/projects/sources.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import type { JobReport, Rejected } from "../../../in/adapters/adapter.ts";
import { reportedBySlug } from "../../../in/heartbeats/address.ts";
import { heartbeatCreate, slugOf } from "../../../in/heartbeats/heartbeat.ts";
import { createHeartbeat } from "../../../in/heartbeats/heartbeats.ts";
import type { IngestEvent } from "../../../in/ingest/event.ts";
import type { Tenant } from "../../../tenant/tenant.ts";

/** Reports of one request that are heard: each is a transaction. */
const MOST = 100;

/** What became of reports: how many were taken, and what is told of the others. */
interface HeardJobs {
  heard: number;
  events: IngestEvent[];
  rejected: Rejected[];
}

/**
 * Tells heartbeats what jobs said through a sender, each committed when this resolves. A sender speaks for those that it made,
 * that name its source, or that are called as it is: another's key, which may be anybody's, keeps no job from being missed.
 */
export async function hearJobs(
  sender: { tenant: Tenant; source: Source },
  jobs: readonly JobReport[],
): Promise<HeardJobs> {
  const { tenant, source } = sender;
  const told: HeardJobs = { heard: 0, events: [], rejected: [] };
  for (const job of jobs.slice(0, MOST)) {
    const slug = slugOf(job.name ?? source.name);
    const known = reportedBySlug(tenant.store, source.projectId, slug);
    const isOwn = known?.source === source.name || (known?.source === null && job.name === null);
    const id = known === null ? make(sender, slug, job) : isOwn ? known.id : null;
    const { word, rid, otherwise } = job;
    if (known !== null && !isOwn)
      told.rejected.push({
        reason: `the heartbeat with the slug ${slug} doesn't watch this source: its watch names ${known.source ?? "none"}`,
      });
    if (id !== null) {
      await tenant.heartbeats.hear(id, { word, rid, exit: null, message: null });
      told.heard++;
    } else if (otherwise === "rejected" && known === null)
      told.rejected.push({ reason: `the project has no heartbeat with the slug ${slug}` });
    else if (typeof otherwise === "object") told.events.push(otherwise.event);
  }
  if (jobs.length > MOST)
    told.rejected.push({
      reason: `of ${jobs.length} reports of jobs the first ${MOST} were taken`,
    });
  return told;
}

/** One that is expected when its sender says; null where it says nothing that a heartbeat may have. */
function make(
  { tenant, source }: { tenant: Tenant; source: Source },
  slug: string,
  { name, pace }: JobReport,
): string | null {
  if (pace === null) return null;
  const own = { name: name ?? source.name, slug, watch: { source: source.name } };
  const body = heartbeatCreate.safeParse({ ...own, ...pace });
  if (!body.success) return null;
  try {
    return tenant.store.write((tx) => {
      const project = projectOf(tx, source.projectId);
      return createHeartbeat(tx, project, { tenantId: tenant.id, body: body.data }).row.id;
    });
  } catch (error) {
    // One too many, or another of this name.
    if (error instanceof ServiceError && error.status < 429) return null;
    throw error;
  }
}
