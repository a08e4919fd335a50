import type { Simulation } from "../../../core/alerts/simulate/shape.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import type { PageCall } from "../screen.ts";
import { span } from "../ui/times.ts";
import { clockIn } from "./clock-in.ts";
import { askLink, type LadderQuestion } from "./question.ts";

const NOTICE = { good: "notice-good", warn: "notice-warn", error: "notice-wrong" } as const;
const WORD = { good: "Good", warn: "Weak", error: "Bad" } as const;

/** What it comes to, before anything else. */
export function verdictNotice(
  call: PageCall,
  question: LadderQuestion,
  { verdict }: Simulation,
): Markup {
  const { at, zone } = question;
  const when = (time: number | null) =>
    time === null
      ? "never"
      : html`${clockIn(time, zone)}${time > at && ` (after ${span(time - at)})`}`;
  return html`<div class="notice sim-verdict ${NOTICE[verdict.level]}" id="verdict"><p class="empty-what"><strong>${WORD[verdict.level]}.</strong> ${verdict.sentence}</p>
<p>First ring: ${when(verdict.first_ring_at)}. A second person: ${when(verdict.second_person_at)}.</p></div>
${silenced(call, question)}`;
}

/** Who is taken to answer nothing, each with the way back. */
function silenced(call: PageCall, question: LadderQuestion): Markup {
  const { silent } = question;
  if (silent.length === 0)
    return html`<p class="soft">Everybody answers. Choose below who doesn’t answer, and see who is left.</p>`;
  const names = new Map(
    listAccounts(call.tenant.store).map((one) => [one.id, one.display_name.trim() || one.email]),
  );
  return html`<p class="buttons">${silent.map((account) => {
    const others = silent.filter((one) => one !== account);
    const name = names.get(account) ?? account;
    return html`${askLink(call, question, { change: { silent: others }, kind: "button second", words: `${name} doesn't answer ×`, label: `${name} doesn't answer ×: take it back` })} `;
  })}</p>`;
}
