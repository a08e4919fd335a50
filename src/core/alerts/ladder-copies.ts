import { invalid } from "../../ground/kit/errors.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { type LadderCopies, ladderPartOf, type StoredLadder } from "../projects/ladder.ts";
import { insertLadder } from "../projects/ladders.ts";
import { changeConfig, projectOf } from "../projects/projects.ts";
import {
  bodyOfRule,
  type EscalationStep,
  escalationStep,
  type StoredRule,
} from "../projects/rule.ts";
import { listAllRules, rewriteRule } from "../projects/rules.ts";
import { sharedSchedules } from "../projects/schedule-names.ts";

/** Rules that page by steps of their own, which one ladder could stand for. */

interface Copies {
  steps: EscalationStep[];
  rules: { rule: StoredRule; home: string }[];
}

/** Those of two rules or more, those of the most rules first. */
export function ladderCopies(reader: Reader): LadderCopies[] {
  const shared = new Set(sharedSchedules(reader).map(({ home, name }) => `${home}/${name}`));
  return copiesIn(reader)
    .filter(({ rules }) => rules.length > 1)
    .map(({ steps, rules }) => ({
      steps,
      rules: rules.map(({ home }) => home).toSorted(),
      not_shared: [...new Set(steps.flatMap(({ schedules }) => schedules))].filter(
        (name) => !shared.has(name),
      ),
    }))
    .toSorted((a, b) => b.rules.length - a.rules.length || (`${a.rules}` < `${b.rules}` ? -1 : 1));
}

/** Steps that rules have of their own, each with its rules. */
function copiesIn(reader: Reader): Copies[] {
  const found = new Map<string, Copies>();
  for (const rule of listAllRules(reader)) {
    if ((rule.ladder ?? null) !== null || rule.escalations.length === 0) continue;
    const { name } = projectOf(reader, rule.project_id);
    const steps = rule.escalations.map((step) => stepOf(step, name));
    const key = JSON.stringify(steps);
    const known = found.getOrInsertComputed(key, () => ({ steps, rules: [] }));
    known.rules.push({ rule, home: `${name}/${rule.name}` });
  }
  return [...found.values()];
}

/** A step as any project says it: whoever it names in whatever order, it pages the same people. */
function stepOf(step: EscalationStep, project: string): EscalationStep {
  const { accounts, schedules, ...rest } = escalationStep.parse(step);
  const full = schedules.map((name) => (name.includes("/") ? name : `${project}/${name}`));
  return { ...rest, accounts: accounts.toSorted(), schedules: full.toSorted() };
}

/**
 * Makes a ladder of the steps that these rules have, and they refer to it from then on. Nothing changes for their alerts, nor
 * for what their windows have counted. Throws 400 where the rules don't have equal steps of their own, 409, 422.
 */
export function adoptLadder(
  tx: Tx,
  { name, rules }: { name: string; rules: readonly string[] },
): StoredLadder {
  const copies = copiesIn(tx).find((one) => one.rules.some(({ home }) => home === rules[0]));
  const details = rules.flatMap((home, i) =>
    copies?.rules.some((one) => one.home === home)
      ? []
      : [
          {
            field: `/rules/${i}`,
            reason: i === 0 ? "has no rungs of its own" : "doesn't have the same rungs of its own",
          },
        ],
  );
  if (copies === undefined || details.length > 0) throw invalid(details);
  const { steps } = copies;
  const ladder = insertLadder(tx, { name, steps, passes: 1, pass_after_minutes: null, team: "" });
  const changed = new Set<number>();
  for (const { rule, home } of copies.rules) {
    if (!rules.includes(home)) continue;
    rewriteRule(tx, rule, { ...bodyOfRule(rule), ...ladderPartOf(ladder) });
    changed.add(rule.project_id);
  }
  for (const id of changed) changeConfig(tx, id);
  return ladder;
}
