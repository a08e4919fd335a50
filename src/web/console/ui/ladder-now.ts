import type { EscalationStep } from "../../../core/projects/rule.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { LadderContext } from "./ladder-context.ts";

/** The ladder with whom each step would page now. */
export function ladderNow(
  { escalations }: { escalations: readonly EscalationStep[] },
  around: LadderContext,
): Markup {
  if (escalations.length === 0)
    return html`<span class="warn">nobody is paged</span>: it has no ladder`;
  return html`<ul class="plain">${escalations.map(
    (step) =>
      html`<li>${stepWords(step)} → ${joined([
        ...step.schedules.map((name) => scheduleNow(name, around)),
        ...step.accounts.map((account) => personNow(account, around)),
      ])}</li>`,
  )}</ul>`;
}

const joined = (pieces: Markup[]): Piece =>
  pieces.length === 0
    ? html`<span class="warn">nobody</span>`
    : pieces.map((piece, i) => html`${i > 0 && ", "}${piece}`);

/** "primary (now Ann ● ntfy, Ben ● phone)" */
export function scheduleNow(name: string, around: LadderContext): Markup {
  const accounts = around.onCall(name);
  if (accounts.length === 0)
    return html`${name} (<span class="wrong">${around.schedules.includes(name) || name.includes("/") ? "nobody now" : "no such schedule"}</span>)`;
  return html`${name} (now ${joined(accounts.map((account) => personNow(account, around)))})`;
}

/** "Ann ● ntfy" */
export function personNow(account: string, around: LadderContext): Markup {
  const { dot, words } = around.reach(account);
  return html`${around.nameOf(account)} <span class="dot dot-${dot}" aria-hidden="true"></span> <span class="${dot === "none" ? "wrong" : "soft"} small">${words}</span>`;
}

/** "at once", "after 15 min", with how often it is said again. */
export function stepWords({ after_minutes, repeat_minutes }: EscalationStep): string {
  const when = after_minutes === 0 ? "at once" : `after ${minutesWords(after_minutes)}`;
  return repeat_minutes === 0 ? when : `${when}, again every ${minutesWords(repeat_minutes)}`;
}

export function minutesWords(minutes: number): string {
  if (minutes < 120 || minutes % 60 !== 0) return `${minutes} min`;
  return minutes < 2880 || minutes % 1440 !== 0 ? `${minutes / 60} h` : `${minutes / 1440} days`;
}
