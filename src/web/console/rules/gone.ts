import { findProject } from "../../../core/projects/projects.ts";
import { findRuleNamed } from "../../../core/projects/rules.ts";
import { listAudit } from "../../../ground/audit/list.ts";
import type { PageCall } from "../screen.ts";
import { exact } from "../ui/times.ts";

/** Entries that are looked through for the one of this project: others may have a rule of the name. */
const LOOKED_AT = 20;

/** Whether a project that is there has no such rule. */
export function isRuleGone({ tenant: { store } }: PageCall, project: string, name: string) {
  const home = findProject(store, project);
  return home !== null && findRuleNamed(store, home.id, name) === null;
}

/** "There is no rule errors: Ann deleted it on Thu, 12 Nov …", as far as the audit knows. */
export function ruleGone(
  { tenant: { store }, look }: PageCall,
  project: string,
  name: string,
): string {
  const filter = { target: `rule:${name}`, verb: "deleteRule", limit: LOOKED_AT };
  const last = listAudit(store, filter).entries.find(({ target }) => target.project === project);
  if (last === undefined) return `There is no rule ${name}.`;
  const who = last.email ?? "somebody who was removed";
  return `There is no rule ${name}: ${who} deleted it on ${exact(last.at, look.zone)}.`;
}
