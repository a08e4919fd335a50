import type { EscalationStep } from "../../../core/projects/rule.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { LadderEnd } from "../../../records/config-file/ladders-end.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { chip, proofWords, squareChip } from "./faces.ts";
import type { LadderContext } from "./ladder-context.ts";
import { counted } from "./pieces.ts";
import { remedy } from "./way.ts";

/** What a ladder needs of a call to be drawn. */
export type LadderCall = Pick<PageCall, "base" | "leads" | "look" | "now" | "who">;

/** The ladder with whom each rung would page now. */
export function ladderNow(
  call: LadderCall,
  { escalations }: { escalations: readonly EscalationStep[] },
  around: LadderContext,
): Markup {
  if (escalations.length === 0)
    return html`<span class="warn">nobody is paged</span>: it has no ladder`;
  return html`<ol class="rail">${escalations.map((step) => {
    const { schedules, accounts } = step;
    const people = [...schedules.flatMap((name) => around.onCall(name)), ...accounts];
    const names = [
      ...schedules.map((name) => html`on call: ${name}`),
      ...accounts.map((account) => html`${around.nameOf(account)}`),
    ];
    const ways = [
      ...schedules.map((name) => dutyNow(call, around, name)),
      ...accounts.map(
        (account) =>
          html`${names.length > 1 && `${around.nameOf(account)} `}${howReached(call, around, account)}`,
      ),
    ];
    return html`<li>${faceOf(around, people[0])}<p><b>${joined(names, "nobody")}</b></p><span class="rung-when">${step.after_minutes === 0 ? "at once" : `after ${minutesWords(step.after_minutes)}`}</span><div class="rung-ways"><span>${joined(ways, "")}</span>${step.repeat_minutes > 0 && html`<span>again every ${minutesWords(step.repeat_minutes)}</span>`}</div></li>`;
  })}</ol>`;
}

const joined = (pieces: readonly Markup[], none: string): Piece =>
  pieces.length === 0 ? none : pieces.map((piece, i) => html`${i > 0 && ", "}${piece}`);

/** Of nobody a place for somebody. */
export const faceOf = (around: LadderContext, account: string | undefined): Markup =>
  account === undefined ? squareChip("calendar") : chip(around.faces(account));

/** "now Ann proved 2 h ago · ntfy, phone" */
export function dutyNow(call: LadderCall, around: LadderContext, schedule: string): Markup {
  const accounts = around.onCall(schedule);
  if (accounts.length === 0)
    return html`<span class="crit">${around.schedules.includes(schedule) || schedule.includes("/") ? "nobody now" : "no such schedule"}</span>`;
  const now = accounts.map(
    (account) =>
      html`now ${account === call.who.accountId ? "you" : around.nameOf(account)}, ${howReached(call, around, account)}`,
  );
  return html`${joined(now, "")}`;
}

/** "proved 2 h ago · ntfy, phone"; of whom nothing reaches, that, and the way to mend it. */
export function howReached(call: LadderCall, around: LadderContext, account: string): Markup {
  const { dot, words } = around.reach(account);
  if (dot === "waiting") return html`${words}`;
  if (dot !== "none") return html`${proofWords(call, around.faces(account))} · ${words}`;
  const mend = remedy(call, pathOf("people", account), "Mend it");
  return html`<span class="crit">${words}</span>${mend !== null && html` · ${mend}`}`;
}

export function minutesWords(minutes: number): string {
  if (minutes < 120 || minutes % 60 !== 0) return `${minutes} min`;
  return minutes < 2880 || minutes % 1440 !== 0 ? `${minutes / 60} h` : `${minutes / 1440} days`;
}

/** What goes with a rule, before it goes and after. */
export function ladderEndWords({ rule, count, people }: LadderEnd): string {
  const named = people.length > 0 ? `: its ladder named ${people.join(", ")}` : "";
  return `Of ${counted(count, "open alert")} of rule ${rule} nobody further is paged${named}.`;
}
