import { simulateWrite, type VerdictLevel } from "../../../core/alerts/simulate/shape.ts";
import { simulate } from "../../../core/alerts/simulate.ts";
import { getProject } from "../../../core/projects/projects.ts";
import type { RuleBody } from "../../../core/projects/rule.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { nextHour } from "../ui/local-time.ts";
import { clockTime } from "../ui/times.ts";

/** What a ladder that isn't saved comes to at a time. */
interface TriedLadder {
  at: number;
  level: VerdictLevel;
  sentence: string;
}

const NIGHT = 3;

/** Now, and when people sleep. Empty where it names who or what isn't there: a dry run's warnings say that. */
export async function tryLadder(
  { tenant, params, now, look }: PageCall,
  rule: RuleBody & { name: string },
): Promise<TriedLadder[]> {
  const { store, slices } = tenant;
  const projectId = getProject(store, params["project"] ?? "").id;
  try {
    const found: TriedLadder[] = [];
    for (const at of [now, nextHour(now, look.zone, NIGHT)]) {
      const input = simulateWrite.parse({ rule, at });
      const { verdict } = await slices.run(simulate(store, { projectId, input, now }));
      found.push({ at, level: verdict.level, sentence: verdict.sentence });
    }
    return found;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 422) return [];
    throw error;
  }
}

const NOTICE = { good: "notice-good", warn: "notice-warn", error: "notice-wrong" } as const;

/** Whether the ladder in the form would wake somebody. */
export function ladderTriedWords(call: PageCall): Markup {
  const tried = JSON.parse(call.shown["ladder"] ?? "[]") as TriedLadder[];
  return html`${tried.map(
    ({ at, level, sentence }) =>
      html`<p class="notice ${NOTICE[level]}"><strong>${at <= call.now ? "If it fires now" : html`If it fires ${clockTime(call, at)}`}:</strong> ${sentence}</p>`,
  )}`;
}
