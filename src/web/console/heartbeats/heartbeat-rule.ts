import { createRule } from "../../../core/alerts/rules.ts";
import { ladderInPassing } from "../../../core/projects/ladders.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { ruleCreate } from "../../../core/projects/rule.ts";
import { check } from "../../../ground/kit/check.ts";
import { invalid } from "../../../ground/kit/errors.ts";
import type { Tx } from "../../../ground/store/store.ts";

const REPEAT_MINUTES = 5;

/** The choice of the form that isn't a person or a schedule: what the project has for rules made in passing. */
export const USUAL_RECIPIENT = "usual";

/**
 * Makes a rule that takes this heartbeat alone and pages whom the form names: `a:` and an account, `s:` and a schedule, or the
 * project's default ladder. Its name. Throws 400, 409, 422.
 */
export function makeHeartbeatRule(
  tx: Tx,
  project: Project,
  { heartbeat, recipient }: { heartbeat: { name: string; slug: string }; recipient: string },
): string {
  const who = recipient.slice(2);
  const isAccount = recipient.startsWith("a:");
  const refuse = (reason: string): never => {
    throw invalid([{ field: "/recipient", reason }]);
  };
  if (recipient !== USUAL_RECIPIENT && !isAccount && !recipient.startsWith("s:"))
    refuse("is nobody");
  const own = {
    accounts: isAccount ? [who] : [],
    schedules: isAccount ? [] : [who],
    after_minutes: 0,
    repeat_minutes: REPEAT_MINUTES,
  };
  const { name, ...body } = check(
    ruleCreate,
    {
      name: `${heartbeat.name} is missing`,
      match: { tags: ["heartbeat"] },
      conditions: [{ key: "slug", op: "eq", value: heartbeat.slug }],
      identifier_keys: ["heartbeat"],
      ...(recipient === USUAL_RECIPIENT
        ? ladderInPassing(tx, project, { steps: () => refuse("has no default ladder") })
        : { escalations: [own] }),
    },
    "body",
  );
  return createRule(tx, project, { name, body }).name;
}
