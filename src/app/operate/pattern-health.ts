import { isPattern } from "../../core/projects/condition.ts";
import { isRunnable, patternTimeOf, valuePattern } from "../../core/projects/pattern.ts";
import type { StoredRule } from "../../core/projects/rule.ts";
import { listAllRules } from "../../core/projects/rules.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import type { Reader } from "../../ground/store/store.ts";
import type { HealthCheck } from "../../tenant/health.ts";
import { type Finding, wrong } from "./finding.ts";

const HOUR = 3600;
const ADVICE = "write its pattern shorter, with smaller counted repeats";

/** Whether rules matched only because their patterns were too large or took too long together. */
export function patternsCheck({
  store,
  clock,
}: {
  store: Reader;
  clock: Reader["clock"];
}): HealthCheck {
  const since = unixSeconds(clock) - HOUR;
  const rules = patternTimeOf(store)
    .doubts()
    .filter(({ at }) => at > since)
    .map(({ projectId, rule }) => `${nameOf(store, projectId)} / ${rule}`);
  const base = { name: "patterns", severity: "degraded" as const, ok: rules.length === 0 };
  if (base.ok) return { ...base, detail: "every pattern was run" };
  const what =
    "matched events in the last hour although a pattern of theirs could not be run in time";
  const count = rules.length === 1 ? "one rule" : `${rules.length} rules`;
  return {
    ...base,
    detail: `${count} ${what}`,
    named: `rules ${what}: ${rules.slice(0, 10).join(", ")}; ${ADVICE}`,
  };
}

/** Rules of an older program whose pattern is never run. They match everything that their other conditions match. */
export function patternFindings(reader: Reader): Finding[] {
  return listAllRules(reader)
    .filter(hasTooLarge)
    .map(({ project_id, name }) =>
      wrong(
        "patterns",
        `${nameOf(reader, project_id)} / ${name} has a pattern that is too large to run, and matches every event as if the pattern did`,
        ADVICE,
      ),
    );
}

const hasTooLarge = ({ conditions }: StoredRule) =>
  conditions.some(({ op, value }) => isPattern(op) && !isRunnable(valuePattern(String(value))));

function nameOf(reader: Reader, projectId: number): string {
  const name = reader.sql<[id: number], string>("SELECT name FROM projects WHERE id = ?").pluck();
  return name.get(projectId) ?? String(projectId);
}
