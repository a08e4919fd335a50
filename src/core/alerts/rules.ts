import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { mustBeBelowLimit } from "../projects/bounds.ts";
import { changeConfig, type Project, projectOf } from "../projects/projects.ts";
import type { RuleBody, StoredRule } from "../projects/rule.ts";
import { checkRuleReferences } from "../projects/rule-references.ts";
import {
  dropRule,
  findRuleNamed,
  getRule,
  insertRule,
  listAllRules,
  rewriteRule,
  writeRuleName,
} from "../projects/rules.ts";
import { checkSilencedBy } from "../projects/silenced-by.ts";
import { renameInSilences } from "../quiet/rows.ts";
import { dropHitsOfRule } from "./hits.ts";
import { lookAgainBelow, lookAgainOfRule, renameRuleOfAlerts } from "./many.ts";
import { retimeAlerts } from "./retime.ts";

/** Throws 409 for a taken name, 422 for accounts, schedules or actions that don't exist here, for one too many and for rules that silence each other. */
export function createRule(
  tx: Tx,
  project: Project,
  rule: { name: string; body: RuleBody },
): StoredRule {
  if (findRuleNamed(tx, project.id, rule.name) !== null)
    throw new ServiceError("name_taken", "The project has a rule of this name.");
  mustBeBelowLimit(tx, "rules", project.id);
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
  const after = rewriteRule(tx, before, rule.body);
  if (after === null) return before;
  lookAgainOfRule(tx, before);
  dropHitsOfRule(tx, before.id);
  changeConfig(tx, project.id);
  retimeAlerts(tx, before, after);
  return after;
}

/** The rule has another name now: its alerts that aren't over go on, and what holds them holds them. Throws 404. */
export function renameRule(tx: Tx, project: Project, { from, to }: { from: string; to: string }) {
  const { id } = getRule(tx, project.id, from);
  writeRuleName(tx, id, to);
  renameRuleOfAlerts(tx, { projectId: project.id, ruleId: id, to });
  renameInSilences(tx, project.id, { kind: "rule", from, to });
  changeConfig(tx, project.id);
}

/**
 * Puts `by`, a member, in the place of an account in every ladder; who stood beside it already stands there once. Standing
 * alerts follow their ladders, and what windows have counted stays. The rules that changed, as `project/name`.
 */
export function replaceInLadders(tx: Tx, { from, by }: { from: string; by: string }): string[] {
  return listAllRules(tx)
    .filter(({ escalations }) => escalations.some(({ accounts }) => accounts.includes(from)))
    .flatMap((before) => {
      const { id, project_id, name, created_at, updated_at, ...body } = before;
      const escalations = body.escalations.map((step) => ({
        ...step,
        accounts: [...new Set(step.accounts.map((one) => (one === from ? by : one)))],
      }));
      const after = rewriteRule(tx, before, { ...body, escalations });
      if (after === null) return [];
      changeConfig(tx, project_id);
      retimeAlerts(tx, before, after);
      return [`${projectOf(tx, project_id).name}/${name}`];
    })
    .toSorted();
}

/** Deletes the rule; alerts already opened stay, with nothing timed any more. Throws 404. */
export function deleteRule(tx: Tx, project: Project, name: string): void {
  const rule = getRule(tx, project.id, name);
  dropRule(tx, rule.id);
  retimeAlerts(tx, rule, null);
  lookAgainOfRule(tx, rule);
  lookAgainBelow(tx, rule);
  changeConfig(tx, project.id);
}
