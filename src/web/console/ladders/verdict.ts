import type { Simulation } from "../../../core/alerts/simulate/shape.ts";
import { verdictParts } from "../../../core/alerts/simulate/verdict.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type IconName, icon } from "../ui/icon.ts";
import { span } from "../ui/times.ts";

const LOOK = {
  good: ["notice-good", "good", "proof", "Good"],
  warn: ["notice-warn", "warn", "warn", "Weak"],
  error: ["notice-wrong", "crit", "close", "Bad"],
} as const satisfies Record<string, readonly [string, string, IconName, string]>;

/** What it comes to, before the rungs: who is the first that wakes, and how good that is. */
export function verdictNotice({ verdict, rungs, opens_at }: Simulation): Markup {
  const [ground, colour, mark, word] = LOOK[verdict.level];
  const { cause, firsts } = verdictParts(verdict.sentence);
  const awake = rungs
    .flatMap(({ at, people }) => people.map((one) => ({ ...one, at })))
    .find(({ answers }) => answers);
  const wakes =
    awake === undefined
      ? "Nobody wakes"
      : `${awake.name} wakes ${awake.at <= opens_at ? "at once" : `after ${span(awake.at - opens_at)}`}`;
  return html`<div class="notice verdict ${ground}" id="verdict"><span class="${colour}">${icon(mark, "large")}</span><p><strong>${wakes}</strong><br><span class="small">${word}: ${cause} ${firsts}</span></p></div>`;
}
