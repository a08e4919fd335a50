import type { Simulation } from "../../../core/alerts/simulate/shape.ts";
import { verdictParts } from "../../../core/alerts/simulate/verdict.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type IconName, icon } from "../ui/icon.ts";
import { span } from "../ui/times.ts";
import type { LadderQuestion } from "./question.ts";

const LOOK = {
  good: ["notice-good", "good", "proof", "Good"],
  warn: ["notice-warn", "warn", "warn", "Weak"],
  error: ["notice-wrong", "crit", "close", "Bad"],
} as const satisfies Record<string, readonly [string, string, IconName, string]>;

/** What it comes to, before the rungs: of whom some sleep, who is the first that doesn't. */
export function verdictNotice(
  { silent }: LadderQuestion,
  { verdict, rungs, opens_at }: Simulation,
): Markup {
  const [ground, colour, mark, word] = LOOK[verdict.level];
  const { cause, firsts } = verdictParts(verdict.sentence);
  const awake = rungs
    .flatMap(({ at, people }) => people.map((one) => ({ ...one, at })))
    .find(({ answers }) => answers);
  const first =
    silent.length > 0 &&
    awake !== undefined &&
    html` ${awake.name} is the first to answer, ${awake.at <= opens_at ? "at once" : `after ${span(awake.at - opens_at)}`}.`;
  return html`<div class="notice verdict ${ground}" id="verdict"><span class="${colour}">${icon(mark, "large")}</span><p><strong>${word}. ${cause}</strong>${first} <span class="soft small">${firsts}</span></p></div>`;
}
