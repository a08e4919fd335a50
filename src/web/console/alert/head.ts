import { earlierAlerts } from "../../../core/alerts/detail.ts";
import { whoDid } from "../../../core/alerts/holder.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { heartbeatRow } from "../../../in/heartbeats/rows.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { STATE_CLASS } from "../ui/alert-pieces.ts";
import { icon } from "../ui/icon.ts";
import { levelBadge, levelKind } from "../ui/level.ts";
import { markedTitle } from "../ui/message.ts";
import { nth } from "../ui/pieces.ts";
import { ago, clockTime, since } from "../ui/times.ts";
import { way } from "../ui/way.ts";
import { labelsShown } from "./about.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** Labels that stand below the title; all of them stand farther down. */
const PILLS = 4;

/** What broke, how bad, who has it, and whether it goes on. On its wash while it rings and nobody has it. */
export function alertHead(call: PageCall, shown: ShownAlert): Markup {
  const { row, rule, quiet } = shown;
  const { project } = row;
  const isHot = row.state === "open" && quiet === null;
  const runbook = rule?.runbook_url ?? "";
  return html`<div class="hero of-${levelKind(row.level)}${isHot && " hero-hot"}"><p class="crumbs"><a class="icon-button" href="${call.base}/alerts" data-key="Escape" aria-label="Back to the alerts" title="Back to the list (Esc)">${icon("back")}</a><span class="place">${way(call, pathOf("p", project), project)} / ${way(call, pathOf("p", project, "rules", row.rule), row.rule)} · #${row.id}</span></p>
<p class="hero-kind">${levelBadge(row.level)} ${stateWords(call, shown)}</p>
<h1 class="message" dir="auto">${markedTitle(row)}</h1>
<p class="pills">${labelsShown(row)
    .slice(0, PILLS)
    .map(
      ([name, value]) => html`<span class="pill" dir="auto">${name} <b>${value}</b></span>`,
    )}${runbook !== "" && html`<a class="pill" href="${runbook}" rel="noopener noreferrer nofollow">${icon("book", "small")} Runbook</a>`}</p>
<p class="hero-count"><b>${row.count}×</b> <span class="soft">since ${clockTime(call, row.first_seen)}, last ${ago(call, row.last_seen)}${
    row.source !== null && row.source !== "" && `, from ${row.source}`
  }</span></p></div>
${heartbeatLine(call, shown)}${row.drill !== 0 && html`<p class="notice">This is a drill: nothing is wrong.</p>`}${quietBefore(call, shown)}${againLine(call, shown)}`;
}

/** The job that is missing, where a heartbeat's alert is named by it. */
function heartbeatLine(call: PageCall, { row: { dedup_key } }: ShownAlert): Piece {
  const beat = dedup_key === null ? null : heartbeatRow(call.tenant.store, dedup_key);
  if (beat === null) return false;
  return html`<p>Heartbeat: <a href="${call.base}/heartbeats/${beat.id}">${beat.name}</a></p>`;
}

/** `Open · 4 min`, or who has it since when. */
function stateWords(call: PageCall, { row }: Pick<ShownAlert, "row">): Markup {
  const { state } = row;
  const by = state === "open" ? null : whoDid(call.tenant.store, row.id, state);
  const words: Record<typeof state, () => Markup> = {
    open: () => html`Open for ${since(call, row.opened_at)}`,
    acknowledged: () =>
      html`${by ?? "Somebody"} has it since ${clockTime(call, row.acked_at ?? call.now)}${
        row.wakes_at !== null && html`, until ${clockTime(call, row.wakes_at)}`
      }`,
    resolved: () =>
      html`Resolved ${ago(call, row.resolved_at ?? call.now)}${by !== null && ` by ${by}`}`,
  };
  return html`<span class="state state-${STATE_CLASS[state]}">${words[state]()}</span>`;
}

/** When it was quiet last, of one that still stands: what was held back is told since. */
function quietBefore(call: PageCall, { row, quiet, entries }: ShownAlert): Piece {
  const over = entries.findLast(({ kind }) => kind === "silence_over");
  if (row.state !== "open" || quiet !== null || over === undefined) return false;
  const since = over.detail["since"];
  return html`<p class="soft">Quiet until ${clockTime(call, over.at)}${
    typeof since === "number" && html`, since ${clockTime(call, since)}`
  }; notified then.</p>`;
}

/** How often the same came in the past day. */
function againLine(call: PageCall, { row }: ShownAlert): Piece {
  const earlier = earlierAlerts(call.tenant.store, row);
  const today = earlier.filter(({ opened_at }) => opened_at > row.opened_at - 86_400).length;
  if (today === 0) return false;
  return html`<p class="warn">${nth(today + 1)} time within a day${earlier.length >= 20 && " at least"}.</p>`;
}
