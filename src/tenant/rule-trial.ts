import { followTried, ladderWarnings } from "../core/alerts/tried-pages.ts";
import { getProject } from "../core/projects/projects.ts";
import { getRule } from "../core/projects/rules.ts";
import { unixSeconds } from "../ground/kit/clock.ts";
import type { DryRun, DryRunInput } from "../in/ingest/dry-run/dry-run.ts";
import type { Tenant } from "./tenant.ts";

/**
 * What a rule of the project would have opened, and whom it would have paged: the lines in a thread of their own, then the
 * ladder in slices of this one. Nothing is written. Throws 404, and overloaded while another rule is tried.
 */
export async function runTrial(tenant: Tenant, name: string, input: DryRunInput): Promise<DryRun> {
  const { store, slices, clock, dryRuns } = tenant;
  const project = getProject(store, name);
  if (input.versus !== undefined) getRule(store, project.id, input.versus);
  const found = await dryRuns.run(project.id, input);
  const now = unixSeconds(clock);
  const { name: ruleName, ...body } = input.rule;
  const rule = {
    ...input.rule,
    id: 0,
    project_id: project.id,
    created_at: now,
    updated_at: now,
  };
  const { alerts, range } = found;
  const { paged, pages, nightPages, complete } = await slices.run(
    followTried(store, rule, { alerts, until: range.until }),
  );
  const isPartial = !complete || found.alert_count > alerts.length;
  const partial = {
    code: "pages_partial",
    detail: `Pages are counted of the first ${alerts.length} alerts, up to ${pages}.`,
  };
  const warnings = await slices.run(
    ladderWarnings(store, { project: name, name: ruleName, body }, now),
  );
  return {
    ...found,
    alerts: alerts.map((alert, i) => ({ ...alert, paged: paged[i] ?? [] })),
    page_count: pages,
    night_page_count: nightPages,
    warnings: [...found.warnings, ...(isPartial ? [partial] : []), ...warnings],
  };
}
