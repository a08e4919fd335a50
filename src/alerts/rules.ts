import { ServiceError } from "../kit/errors.ts";
import { mustHaveRoom } from "../projects/bounds.ts";
import { changeConfig, type Project } from "../projects/projects.ts";
import type { RuleBody, StoredRule } from "../projects/rule.ts";
import { checkRuleReferences } from "../projects/rule-references.ts";
import { dropRule, findRuleNamed, getRule, insertRule, rewriteRule } from "../projects/rules.ts";
import { checkSilencedBy } from "../projects/silenced-by.ts";
import type { Tx } from "../store/store.ts";
import { dropHitsOfRule } from "./hits.ts";
import { lookAgainOfRule } from "./look-again.ts";
import { retimeAlerts } from "./retime.ts";

/** Throws 409 for a taken name, 422 for accounts, schedules or actions that don't exist here, for one too many and for rules that silence each other. */
export function createRule(
  tx: Tx,
  project: Project,
  rule: { name: string; body: RuleBody },
): StoredRule {
  if (findRuleNamed(tx, project.id, rule.name) !== null)
    throw new ServiceError("name_taken", "The project has a rule of this name.");
  mustHaveRoom(tx, "rules", project.id);
  checkRuleReferences(tx, project.id, rule.body);
  checkSilencedBy(tx, project.id, rule);
  const made = insertRule(tx, { projectId: project.id, ...rule });
  changeConfig(tx, project.id);
  return made;
}

/**
 * Replaces the whole rule. What was counted towards its window before is void (contract §5, fire_after);
 * what is timed on its standing alerts follows it.
 */
export function replaceRule(
  tx: Tx,
  project: Project,
  rule: { name: string; body: RuleBody },
): StoredRule {
  const before = getRule(tx, project.id, rule.name);
  checkRuleReferences(tx, project.id, rule.body);
  checkSilencedBy(tx, project.id, rule);
  const after = rewriteRule(tx, before.id, rule.body);
  if (after === null) return before;
  lookAgainOfRule(tx, before);
  dropHitsOfRule(tx, before.id);
  changeConfig(tx, project.id);
  retimeAlerts(tx, before, after);
  return after;
}

/** Deletes the rule; alerts already opened stay, with nothing timed any more. Throws 404. */
export function deleteRule(tx: Tx, project: Project, name: string): void {
  const rule = getRule(tx, project.id, name);
  dropRule(tx, rule.id);
  retimeAlerts(tx, rule, null);
  lookAgainOfRule(tx, rule);
  changeConfig(tx, project.id);
}
