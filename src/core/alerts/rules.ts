import { ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { mustBeBelowLimit } from "../projects/bounds.ts";
import { ladderMeant } from "../projects/ladders.ts";
import { changeConfig, type Project, projectOf } from "../projects/projects.ts";
import {
  bodyOfRule,
  type EscalationStep,
  type RuleBody,
  type StoredRule,
} from "../projects/rule.ts";
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
import { retimeWaiting } from "./waiting.ts";

/** Throws 409 for a taken name, 422 for accounts, schedules, actions or a ladder that don't exist here, for one too many and for rules that silence each other. */
export function createRule(
  tx: Tx,
  project: Project,
  rule: { name: string; body: RuleBody },
): StoredRule {
  if (findRuleNamed(tx, project.id, rule.name) !== null)
    throw new ServiceError("name_taken", "The project has a rule of this name.");
  mustBeBelowLimit(tx, "rules", project.id);
  const body = { ...rule.body, ...ladderMeant(tx, rule.body) };
  checkRuleReferences(tx, project.id, body);
  checkSilencedBy(tx, project.id, rule);
  const made = insertRule(tx, { projectId: project.id, name: rule.name, body });
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
  const body = { ...rule.body, ...ladderMeant(tx, rule.body, before) };
  checkRuleReferences(tx, project.id, body);
  checkSilencedBy(tx, project.id, rule);
  const after = rewriteRule(tx, before, body);
  if (after === null) return before;
  lookAgainOfRule(tx, before);
  dropHitsOfRule(tx, before.id);
  if (after.for_minutes !== before.for_minutes) retimeWaiting(tx, after);
  changeConfig(tx, project.id);
  const { ladder = null } = after;
  retimeAlerts(tx, ladder === null ? before : fromOutside(before, project.name), after);
  return after;
}

/** A ladder names schedules from outside. That alone is no other step: nobody is paged again for it. */
const fromOutside = (rule: StoredRule, project: string): StoredRule => ({
  ...rule,
  escalations: rule.escalations.map((step) => ({
    ...step,
    schedules: step.schedules.map((name) => (name.includes("/") ? name : `${project}/${name}`)),
  })),
});

/** The rule has another name now: its alerts that aren't over go on, and what holds them holds them. Throws 404. */
export function renameRule(tx: Tx, project: Project, { from, to }: { from: string; to: string }) {
  const { id } = getRule(tx, project.id, from);
  writeRuleName(tx, id, to);
  renameRuleOfAlerts(tx, { projectId: project.id, ruleId: id, to });
  renameInSilences(tx, project.id, { kind: "rule", from, to });
  changeConfig(tx, project.id);
}

/**
 * Puts `by`, a member, in the place of an account in every rule's own ladder; who stood beside it already stands there once.
 * Standing alerts follow their ladders, and what windows have counted stays. The rules that changed, as `project/name`.
 */
export function replaceInRules(tx: Tx, change: { from: string; by: string }): string[] {
  return listAllRules(tx)
    .filter(({ ladder }) => (ladder ?? null) === null)
    .flatMap((before) => {
      const { project_id, name } = before;
      const escalations = replacedIn(before.escalations, change);
      if (escalations === null) return [];
      const after = rewriteRule(tx, before, { ...bodyOfRule(before), escalations });
      if (after === null) return [];
      changeConfig(tx, project_id);
      retimeAlerts(tx, before, after);
      return [`${projectOf(tx, project_id).name}/${name}`];
    })
    .toSorted();
}

/** Steps with `by` in the place of an account, each person once; null where none names it. */
export function replacedIn(
  steps: readonly EscalationStep[],
  { from, by }: { from: string; by: string },
): EscalationStep[] | null {
  if (!steps.some(({ accounts }) => accounts.includes(from))) return null;
  return steps.map((step) => ({
    ...step,
    accounts: [...new Set(step.accounts.map((one) => (one === from ? by : one)))],
  }));
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
