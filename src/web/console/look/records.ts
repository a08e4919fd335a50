import { html, type Markup } from "../../../ground/kit/html.ts";
import type { HeartbeatRun } from "../../../in/heartbeats/heartbeat.ts";
import { noFigures } from "../../../records/numbers/figures.ts";
import type { PageCall } from "../screen.ts";
import { entryRow } from "../ui/entry-row.ts";
import { runLegend, runRow } from "../ui/runs.ts";
import { tiles } from "../ui/tiles.ts";

const HOUR = 3600;

/** A run that ended in each way that there is, and one that goes on. */
export function runs(call: PageCall): Markup {
  const usual = { exit_status: null, rid: null, late_seconds: 0 };
  const ends = ["ok", "ok", "ok", "failed", "missing", "overrun", "unknown", "ok"] as const;
  const all = ends.map((outcome, at): HeartbeatRun => {
    const ended = call.now - (ends.length - at) * HOUR;
    // The second was late.
    const late_seconds = at === 1 ? 40 : 0;
    return {
      ...usual,
      outcome,
      late_seconds,
      started_at: ended - 90,
      ended_at: ended,
      duration: 90,
    };
  });
  const started = { started_at: call.now - 60, ended_at: null, duration: null };
  const last: HeartbeatRun = { ...usual, ...started, outcome: "running" };
  return html`<h2>Runs of heartbeats</h2>${runRow(call, [last, ...all.toReversed()])}${runLegend}${runRow(call, [])}`;
}

/** A week's figures: better than before, and the first week of a box. */
export function figures(): Markup {
  const [before, now] = [noFigures(), noFigures()];
  Object.assign(before.counts, { pages: 31 });
  Object.assign(now.counts, { pages: 12, night_rings: 3, nights_broken: 2, opened: 9 });
  Object.assign(now.counts, { ended_by_themselves: 4, reached_nobody: 1 });
  return html`<h2>Figures</h2>${tiles(now, before)}${tiles(noFigures(), noFigures())}`;
}

/** Entries of a report, of each type. */
export function entries(call: PageCall): Markup {
  const path = "/p/payments/reports/sample";
  const at = { by: "Lucía Ferrer", path };
  const each = (["resolution", "analysis", "update"] as const).map((entryType, index) => ({
    id: `sample-${entryType}`,
    title: index === 2 ? "" : (["Payments work again", "A provider is slow"][index] ?? ""),
    entryType,
    contentMd: "**Card payments** took up to a minute. No order is lost.",
    createdAt: call.now - index * HOUR,
  }));
  return html`<h2>Entries of a report</h2><ol class="who">${each.map((entry) => entryRow(call, entry, at))}</ol>`;
}
