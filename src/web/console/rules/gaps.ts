import { findForLadder } from "../../../core/oncall/schedules.ts";
import type { Project } from "../../../core/projects/projects.ts";
import type { StoredRule } from "../../../core/projects/rule.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "../ui/pieces.ts";
import { LOOK_DAYS, schedulePage, seatNow, stretchWords } from "../ui/schedule.ts";

/** Times of the next fortnight at which a schedule of the saved ladder has nobody: said where the rule is read. */
export async function ladderGaps(
  call: PageCall,
  project: Project,
  { escalations }: StoredRule,
): Promise<Markup> {
  const names = [...new Set(escalations.flatMap(({ schedules }) => schedules))];
  const items: Markup[] = [];
  for (const name of names) {
    const stored = findForLadder(call.tenant.store, project, name);
    if (stored === null) continue;
    const { gaps } = await seatNow(call, stored);
    const [first] = gaps;
    if (first === undefined) continue;
    items.push(
      html`<li><a href="${call.base}${schedulePage(stored)}">${name}</a>: ${counted(gaps.length, "gap")}, the first ${stretchWords(first, stored.timezone)}</li>`,
    );
  }
  if (items.length === 0) return html``;
  return html`<div class="notice notice-wrong"><p>In the next ${LOOK_DAYS} days this ladder meets nobody on call:</p><ul>${items}</ul></div>`;
}
