import { listActions } from "../../../core/projects/actions.ts";
import type { StoredLadder } from "../../../core/projects/ladder.ts";
import { listLadders } from "../../../core/projects/ladders.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { listSources } from "../../../core/projects/sources.ts";
import type { PageCall } from "../screen.ts";
import { facesOf } from "../ui/faces.ts";
import { type LadderContext, readLadderContext } from "../ui/ladder-context.ts";

/** What a rule of a project can name, and how things stand with it now. */
export interface RuleContext extends LadderContext {
  project: Project;
  sources: readonly string[];
  /** Those of the tenant. */
  ladders: readonly StoredLadder[];
  actions: readonly { id: string; name: string; enabled: boolean }[];
}

/** `level`: of the alerts that are thought of. */
export async function readRuleContext(
  call: PageCall,
  project: Project,
  level: number,
): Promise<RuleContext> {
  const { tenant, now } = call;
  const reader = tenant.store;
  const faces = await facesOf(call);
  return {
    ...readLadderContext(reader, { now, level, project, isOwn: true, faces }),
    project,
    sources: listSources(reader, project).map(({ name }) => name),
    ladders: listLadders(reader),
    actions: listActions(reader, project).map(({ id, name, enabled }) => ({ id, name, enabled })),
  };
}
