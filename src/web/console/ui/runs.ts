import { html, type Markup } from "../../../ground/kit/html.ts";
import type { HeartbeatRun } from "../../../in/heartbeats/heartbeat.ts";
import type { PageCall } from "../screen.ts";
import { counted } from "./pieces.ts";
import { clockTime, span, timeOnClock } from "./times.ts";

/** Runs of a job as a row of shapes, and the same in words. */

type Look = "ok" | "late" | "missed" | "failed" | "long" | "running" | "unknown";

const LOOKS: Readonly<Record<Look, { word: string; shape: Markup }>> = {
  ok: {
    word: "ended well",
    shape: html`<rect class="run-full" x="1" y="1" width="6" height="14"/>`,
  },
  late: {
    word: "late",
    shape: html`<rect class="run-hollow" x="1.75" y="1.75" width="4.5" height="12.5"/>`,
  },
  missed: { word: "missed", shape: html`<path class="run-cross" d="M1 4l6 8M7 4l-6 8"/>` },
  failed: { word: "failed", shape: html`<path class="run-failed" d="M4 2l3.5 13h-7z"/>` },
  long: {
    word: "ran too long",
    shape: html`<path class="run-cross" d="M1 1.5h6"/><rect class="run-hollow" x="1.75" y="4.75" width="4.5" height="9.5"/>`,
  },
  running: {
    word: "running",
    shape: html`<rect class="run-hollow" x="1.75" y="1.75" width="4.5" height="12.5" stroke-dasharray="2 2"/>`,
  },
  unknown: {
    word: "unknown: the box was down",
    shape: html`<circle class="run-full" cx="4" cy="8" r="1.5"/>`,
  },
};

const OUTCOMES = {
  failed: "failed",
  missing: "missed",
  overrun: "long",
  running: "running",
  unknown: "unknown",
} as const;

function lookOf({ outcome, late_seconds }: HeartbeatRun): Look {
  if (outcome !== "ok") return OUTCOMES[outcome];
  return late_seconds > 0 ? "late" : "ok";
}

const STEP = 10;
const SHOWN = 30;

/** The last thirty, the oldest at the left. `latest`: the newest first. */
export function runRow(call: PageCall, latest: readonly HeartbeatRun[]): Markup {
  const runs = latest.slice(0, SHOWN).toReversed();
  if (runs.length === 0) return html`<span class="soft">no run yet</span>`;
  return html`<svg class="plot runs" width="${SHOWN * STEP}" height="16" viewBox="0 0 ${SHOWN * STEP} 16" aria-hidden="true">${runs.map(
    (run, i) =>
      html`<g transform="translate(${i * STEP} 0)"><title>${title(call, run)}</title>${LOOKS[lookOf(run)].shape}</g>`,
  )}</svg><span class="hidden-text">${summary(runs)}</span>`;
}

function title(call: PageCall, run: HeartbeatRun): string {
  const at = run.started_at ?? run.ended_at;
  return `${at === null ? "" : `${timeOnClock(call, at)}: `}${LOOKS[lookOf(run)].word}`;
}

/** "28 ended well, 1 late, 1 missed of the last 30 runs". */
function summary(runs: readonly HeartbeatRun[]): string {
  const looks = runs.map(lookOf);
  const parts = (Object.keys(LOOKS) as Look[]).flatMap((look) => {
    const n = looks.filter((one) => one === look).length;
    return n === 0 ? [] : [`${n} ${LOOKS[look].word}`];
  });
  return `${parts.join(", ")} of the last ${counted(runs.length, "run")}`;
}

/** What the shapes mean. */
export const runLegend: Markup = html`<ul class="legend small soft">${Object.values(LOOKS).map(
  ({ word, shape }) =>
    html`<li><svg width="8" height="16" viewBox="0 0 8 16" aria-hidden="true">${shape}</svg> ${word}</li>`,
)}</ul>`;

export function runTable(call: PageCall, runs: readonly HeartbeatRun[]): Markup {
  const time = (at: number | null) =>
    at === null ? html`<span class="soft">not reported</span>` : clockTime(call, at);
  return html`<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">run</th><th scope="col">began</th><th scope="col">ended</th><th scope="col">took</th><th scope="col" class="num">exit status</th></tr></thead><tbody>${runs.map(
    (run) =>
      html`<tr><td data-label="run">${LOOKS[lookOf(run)].word}${
        run.late_seconds > 0 && html` <span class="soft">by ${span(run.late_seconds)}</span>`
      }</td><td data-label="began">${time(run.started_at)}</td><td data-label="ended">${time(run.ended_at)}</td><td data-label="took">${run.duration === null ? "–" : span(run.duration)}</td><td class="num" data-label="exit status">${run.exit_status ?? "–"}</td></tr>
`,
  )}</tbody></table></div>`;
}
