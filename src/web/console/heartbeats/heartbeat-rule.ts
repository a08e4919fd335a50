import { createRule } from "../../../core/alerts/rules.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { ruleCreate } from "../../../core/projects/rule.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import type { Tx } from "../../../ground/store/store.ts";

const REPEAT_MINUTES = 5;

/**
 * Makes a rule that takes this heartbeat alone and pages whom the form names: `a:` and an account, or `s:` and a schedule.
 * Its name. Throws 400, 409, 422.
 */
export function makeHeartbeatRule(
  tx: Tx,
  project: Project,
  { heartbeat, ear }: { heartbeat: { name: string; slug: string }; ear: string },
): string {
  const who = ear.slice(2);
  const isAccount = ear.startsWith("a:");
  if (!isAccount && !ear.startsWith("s:")) throw invalid([{ field: "/ear", reason: "is nobody" }]);
  const { name, ...body } = check(
    ruleCreate,
    {
      name: `${heartbeat.name} is missing`,
      match: { tags: ["heartbeat"] },
      conditions: [{ key: "slug", op: "eq", value: heartbeat.slug }],
      identifier_keys: ["heartbeat"],
      escalations: [
        {
          accounts: isAccount ? [who] : [],
          schedules: isAccount ? [] : [who],
          after_minutes: 0,
          repeat_minutes: REPEAT_MINUTES,
        },
      ],
    },
    "body",
  );
  return createRule(tx, project, { name, body }).name;
}
