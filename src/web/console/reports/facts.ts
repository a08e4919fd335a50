import { readTimeline } from "../../../core/alerts/timeline.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { draftEntry, type TimelineStep } from "../../../records/reports/draft.ts";
import { clockText } from "../../../records/reports/times.ts";
import type { PageCall } from "../screen.ts";
import { linesToTouch } from "./marks.ts";
import type { ShownReport } from "./shown-report.ts";

const MOMENTS: readonly (readonly [kind: string, name: string])[] = [
  ["opened", "It was detected"],
  ["acknowledged", "It was acknowledged"],
  ["resolved", "It was resolved"],
];

/** What the box itself knows, to be put in where one writes; without script to be copied. */
export function factsSection({ tenant: { store } }: PageCall, { row }: ShownReport): Markup {
  const steps = row.alertId === null ? [] : readTimeline(store, row.alertId);
  return html`<div class="report-facts"><div class="buttons scripted">${steps.length > 0 && html`<button type="button" class="second" id="insert-facts">From the alert's facts</button>`}<details class="menu" id="times"><summary class="button second">Times</summary><div>${times(steps)}</div></details></div>
${steps.length > 0 && draft(store, steps)}</div>`;
}

function times(steps: readonly TimelineStep[]): Markup {
  const known = MOMENTS.flatMap(([kind, name]) => {
    const step = steps.find((one) => one.kind === kind);
    return step === undefined ? [] : [{ name, at: `${clockText(step.at)} UTC` }];
  });
  return html`<button type="button" data-insert-now>Now, in UTC</button>${known.map(
    ({ name, at }) => html`<button type="button" data-insert="${at}">${name}: ${at}</button>`,
  )}`;
}

function draft(store: PageCall["tenant"]["store"], steps: readonly TimelineStep[]): Markup {
  const { title, entry_type, content_md } = draftEntry(steps);
  const names = listAccounts(store).flatMap(({ display_name, email }) => [display_name, email]);
  const lines = linesToTouch(content_md, names);
  return html`<details id="alert-facts"><summary>What the box knows of the alert</summary><p class="soft">A draft to be edited: it names nobody, no rule and no address.</p><pre class="code wrap" id="facts-text" data-title="${title}" data-type="${entry_type}" data-touch="${lines.join(" ")}">${content_md}</pre></details>`;
}
