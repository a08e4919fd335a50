import * as z from "zod";
import { deleteRule } from "../../core/alerts/rules.ts";
import { stillPaging } from "../../core/alerts/still-paging.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { StoredRule } from "../../core/projects/rule.ts";
import { getRule, listRules } from "../../core/projects/rules.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { namedPeople } from "../../people/named.ts";

/** A rule whose alerts page nobody further once it is deleted. */
export const ladderEnd = z.object({
  rule: z.string().meta({ description: "As it was called before." }),
  alerts: z.array(z.string()).meta({ description: "Their ids, at most a hundred." }),
  count: z.int(),
  people: z.array(z.string()).meta({
    description: "Whom its ladder named: emails, and schedules by name.",
  }),
});
export type LadderEnd = z.output<typeof ladderEnd>;

const MOST_NAMED = 100;

/** The ladders that would end if the rule were deleted now; [] where none is running. */
export function endingWith(reader: Reader, rule: StoredRule): LadderEnd[] {
  const alerts = [...stillPaging(reader, rule.project_id)].flatMap(([id, of]) =>
    of === rule.id ? id : [],
  );
  return alerts.length === 0 ? [] : [ended(reader, rule, alerts)];
}

/** Deletes a rule. Returns the ladders that ended. `unlessEnds`: not where a ladder would end. Throws 404. */
export function deleteSaying(
  tx: Tx,
  project: Project,
  name: string,
  { unlessEnds = false } = {},
): LadderEnd[] {
  const ends = endingWith(tx, getRule(tx, project.id, name));
  if (!unlessEnds || ends.length === 0) deleteRule(tx, project, name);
  return ends;
}

/** Remembers the running ladders. Returns a function that returns those that ended since. */
export function watchLadders(reader: Reader, { id: projectId }: Project): () => LadderEnd[] {
  const before = stillPaging(reader, projectId);
  const rules = new Map(listRules(reader, projectId).map((rule) => [rule.id, rule]));
  return () => {
    const after = stillPaging(reader, projectId);
    const gone = [...before].filter(([alert]) => !after.has(alert));
    return [...Map.groupBy(gone, ([, rule]) => rule)].map(([rule, alerts]) =>
      ended(
        reader,
        rules.get(rule) ?? { name: "", escalations: [] },
        alerts.map(([id]) => id),
      ),
    );
  };
}

function ended(
  reader: Reader,
  { name, escalations }: Pick<StoredRule, "name" | "escalations">,
  alerts: readonly number[],
): LadderEnd {
  const ids = escalations.flatMap(({ accounts }) => accounts);
  const emails = new Map(namedPeople(reader, ids).map((one) => [one.account_id, one.email]));
  const people = escalations.flatMap(({ accounts, schedules }) => [
    ...accounts.map((id) => emails.get(id) ?? id),
    ...schedules,
  ]);
  return {
    rule: name,
    count: alerts.length,
    people: [...new Set(people)],
    alerts: alerts.slice(0, MOST_NAMED).map(String),
  };
}
