import type { EscalationStep, StoredRule } from "../../core/projects/rule.ts";
import { rulesWithSchedule } from "../../core/projects/rules.ts";
import { type SharedSchedule, sharedSchedules } from "../../core/projects/schedule-names.ts";
import type { Reader } from "../../ground/store/store.ts";
import { listAccounts } from "../../people/accounts.ts";

/**
 * A ladder for a rule that is created along the way: the project's usual one, else the team's, else the first owner.
 */
export function usualLadder(reader: Reader, rules: readonly StoredRule[]): EscalationStep[] {
  const ladders = rules.map(({ escalations }) => escalations);
  const owner = listAccounts(reader).find(({ role }) => role === "owner");
  const last = { accounts: owner === undefined ? [] : [owner.id], schedules: [] };
  return mostOf(ladders) ?? teamLadder(reader) ?? [{ ...last, ...atOnce }];
}

const atOnce = { after_minutes: 0, repeat_minutes: 0 };

/**
 * Of the ladders with a shared schedule, the one that most rules of other projects have; else the only shared schedule.
 * Null where there is none, or several.
 */
function teamLadder(reader: Reader): EscalationStep[] | null {
  const shared = sharedSchedules(reader);
  const names = new Set(shared.map(wholeName));
  const rules = new Map(shared.flatMap((one) => rulesNaming(reader, one)));
  const ladders = [...rules.values()]
    .map((rule) => asOthersNameIt(rule, shared))
    .filter((ladder) => ladder.every((step) => step.schedules.every((name) => names.has(name))));
  const [only, ...others] = names;
  const one = only === undefined || others.length > 0 ? null : [only];
  return mostOf(ladders) ?? (one && [{ accounts: [], schedules: one, ...atOnce }]);
}

const wholeName = ({ home, name }: SharedSchedule) => `${home}/${name}`;

function rulesNaming(reader: Reader, { projectId, home, name }: SharedSchedule) {
  const of = { project: { id: projectId, name: home }, name };
  return rulesWithSchedule(reader, of).map((rule) => [rule.id, rule] as const);
}

/** Writes the project's own shared schedules with their full names, as other projects write them. */
function asOthersNameIt(rule: StoredRule, shared: readonly SharedSchedule[]): EscalationStep[] {
  const own = new Map(
    shared
      .filter(({ projectId }) => projectId === rule.project_id)
      .map((one) => [one.name, wholeName(one)]),
  );
  return rule.escalations.map((step) => ({
    ...step,
    schedules: step.schedules.map((name) => own.get(name) ?? name),
  }));
}

/** The most frequent ladder, the first of equals; null for none. */
function mostOf(ladders: readonly EscalationStep[][]): EscalationStep[] | null {
  const counts = new Map<string, number>();
  for (const ladder of ladders)
    if (ladder.length > 0) {
      const text = JSON.stringify(ladder);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most === undefined ? null : (JSON.parse(most[0]) as EscalationStep[]);
}
