import { z } from "zod";
import { stillTold } from "../alerts/still-told.ts";
import type { Project } from "../projects/projects.ts";
import { listRules } from "../projects/rules.ts";
import type { Reader } from "../store/store.ts";
import type { RuleConfig } from "./shape.ts";

/** A rule whose alerts nobody is told of any more with a configuration that is applied in the middle of them. */
export const laddersEnd = z.object({
  rule: z.string().meta({ description: "As it was called before." }),
  alerts: z.array(z.string()).meta({ description: "Their ids, at most a hundred." }),
  count: z.int(),
  people: z.array(z.string()).meta({
    description: "Whom its ladder named: emails, and schedules by name.",
  }),
});
export type LaddersEnd = z.output<typeof laddersEnd>;

const MOST_NAMED = 100;

/** Looks at what is timed now, and gives back what says whose ladders have ended since. `rules`: as they are now. */
export function watchLadders(
  reader: Reader,
  project: Project,
  rules: readonly RuleConfig[],
): () => LaddersEnd[] {
  const before = stillTold(reader, project.id);
  const names = new Map(listRules(reader, project.id).map(({ id, name }) => [id, name]));
  const ladderOf = new Map(rules.map(({ name, escalations }) => [name, escalations]));
  return () => {
    const after = stillTold(reader, project.id);
    const ended = [...before].filter(([alert]) => !after.has(alert));
    return [...Map.groupBy(ended, ([, rule]) => names.get(rule) ?? "")].map(([rule, alerts]) => {
      const steps = ladderOf.get(rule) ?? [];
      const people = steps.flatMap(({ accounts, schedules }) => [...accounts, ...schedules]);
      return {
        ...{ rule, count: alerts.length, people: [...new Set(people)] },
        alerts: alerts.slice(0, MOST_NAMED).map(([id]) => String(id)),
      };
    });
  };
}
