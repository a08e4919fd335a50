import { followTried, ladderWarnings } from "../core/alerts/tried-pages.ts";
import { ladderMeant } from "../core/projects/ladders.ts";
import { getProject } from "../core/projects/projects.ts";
import { getRule } from "../core/projects/rules.ts";
import { type Clock, unixSeconds } from "../ground/kit/clock.ts";
import type { Slices } from "../ground/kit/slices.ts";
import type { Store } from "../ground/store/store.ts";
import type { DryRun, DryRunInput } from "../in/ingest/dry-run/dry-run.ts";
import type { DryRunner } from "../in/ingest/dry-run/runner.ts";

/** What a trial reads, and where it runs. */
export interface TrialPlace {
  store: Store;
  slices: Slices;
  clock: Clock;
  dryRuns: DryRunner;
}

/**
 * The alerts that a rule would have opened, and whom it would have paged. A thread of its own reads the lines; the
 * ladder runs in slices of this thread. Writes nothing. Throws 404, and overloaded while another trial runs.
 */
export async function runTrial(
  { store, slices, clock, dryRuns }: TrialPlace,
  name: string,
  input: DryRunInput,
): Promise<DryRun> {
  const project = getProject(store, name);
  if (input.versus !== undefined) getRule(store, project.id, input.versus);
  const meant = { ...input.rule, ...ladderMeant(store, input.rule) };
  const found = await dryRuns.run(project.id, input);
  const now = unixSeconds(clock);
  const { name: ruleName, ...body } = meant;
  const rule = {
    ...meant,
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
    alerts: alerts.map(({ breaks: _, ...alert }, i) => ({ ...alert, paged: paged[i] ?? [] })),
    page_count: pages,
    night_page_count: nightPages,
    warnings: [...found.warnings, ...(isPartial ? [partial] : []), ...warnings],
  };
}
