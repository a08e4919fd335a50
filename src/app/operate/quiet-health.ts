import { type QuietProject, quietProjects } from "../../core/quiet/rows.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import type { Tenant } from "../../tenant/tenant.ts";

/** Reports a project, or the whole box, that is silenced completely: people must not mistake that for "all is well". */
export function quietCheck({ store, clock }: Tenant): HealthCheck {
  const quiet = quietProjects(store, unixSeconds(clock));
  const base = { name: "silences", severity: "degraded" as const, ok: quiet.length === 0 };
  if (base.ok) return { ...base, detail: "no silence covers a whole project" };
  const all = quiet.some(({ project }) => project === null);
  const detail = all
    ? "everything is silenced on purpose"
    : `everything of ${quiet.length} ${quiet.length === 1 ? "project" : "projects"} is silenced on purpose`;
  return { ...base, detail, named: quiet.map(quietText).join("; ") };
}

/** `everything of shop is silenced until 2026-01-05T10:00:00Z: deploy`. */
function quietText({ project, reason, until }: QuietProject): string {
  const what = project === null ? "everything" : `everything of ${project}`;
  const end = new Date(until * 1000).toISOString().replace(".000", "");
  return `${what} is silenced until ${end}: ${reason}`;
}
