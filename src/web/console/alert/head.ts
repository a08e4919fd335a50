import { factsOf } from "../../../core/alerts/alert.ts";
import { earlierAlerts } from "../../../core/alerts/detail.ts";
import { whoDid } from "../../../core/alerts/holder.ts";
import { labelTexts } from "../../../core/alerts/labels.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { heartbeatRow } from "../../../in/heartbeats/rows.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { STATE_CLASS } from "../ui/alert-pieces.ts";
import { levelBadge } from "../ui/level.ts";
import { markedTemplate, markedTitle } from "../ui/message.ts";
import { counted, nth } from "../ui/pieces.ts";
import { silenceNotice } from "../ui/silence-card.ts";
import { ago, clockTime, exact, since } from "../ui/times.ts";
import { way } from "../ui/way.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** What broke, who has it, and whether it goes on. */
export function alertHead(call: PageCall, shown: ShownAlert): Markup {
  const { row } = shown;
  const { project, rule } = row;
  return html`<p class="crumbs"><a href="${call.base}/alerts" data-key="Escape" title="Back to the list (Esc)">‹ Alerts</a> ${levelBadge(row.level)} <span class="between">·</span> <span class="place">${way(call, pathOf("p", project), project)} / ${way(call, pathOf("p", project, "rules", rule), rule)} · #${row.id}</span> <span class="between">·</span> ${stateWords(call, shown)}</p>
<h1 class="message" dir="auto">${markedTitle(row)}</h1>
<p class="soft">${row.count} × since ${clockTime(call, row.first_seen)}</p>
<p>Last: <span class="message mono" dir="auto">“${row.last_message}”</span> ${ago(call, row.last_seen)}${
    row.source !== null && row.source !== "" && `, from ${row.source}`
  }</p>
${saidBeside(shown)}${heartbeatLine(call, shown)}${row.drill !== 0 && html`<p class="notice">This is a drill: nothing is wrong.</p>`}${quietLine(call, shown)}${quietBefore(call, shown)}${againLine(call, shown)}`;
}

/** Of more labels than these the rest is a click away. */
const LABELS_SHOWN = 12;

/** What its sender said beside the message, and its template. */
function saidBeside({ row }: ShownAlert): Markup {
  const { details, links, images, labels, ...alert } = factsOf(row);
  const fact = ([name, value]: readonly [string, Piece]) =>
    html`<div><dt>${name}</dt><dd dir="auto">${value}</dd></div>`;
  // An alert from before labels were kept has identifiers alone.
  const all = labelTexts({ ...alert, labels: { ...alert.identifiers, ...labels } });
  const more = all.slice(LABELS_SHOWN);
  const addresses = [
    ...links,
    ...images.map(({ src, alt = "" }) => ({ href: src, text: alt || "Image" })),
  ];
  return html`<dl class="facts" id="labels">${all.slice(0, LABELS_SHOWN).map(fact)}${fact([
    "Template",
    html`<span class="message">${markedTemplate(row.template)}</span>`,
  ])}</dl>${
    more.length > 0 &&
    html`<details id="more-labels"><summary>${counted(more.length, "more label")}</summary><dl class="facts">${more.map(fact)}</dl></details>`
  }${details !== null && html`<p class="message" dir="auto">${details}</p>`}${
    addresses.length > 0 &&
    html`<ul id="links">${addresses.map(({ href, text }) => html`<li><a href="${href}" rel="noopener noreferrer nofollow">${text}</a></li>`)}</ul>`
  }`;
}

/** The job that is missing, where a heartbeat's alert is named by it. */
function heartbeatLine(call: PageCall, { row: { dedup_key } }: ShownAlert): Piece {
  const beat = dedup_key === null ? null : heartbeatRow(call.tenant.store, dedup_key);
  if (beat === null) return false;
  return html`<p>Heartbeat: <a href="${call.base}/heartbeats/${beat.id}">${beat.name}</a></p>`;
}

/** `Open · 4 min`, or who has it since when. */
export function stateWords(call: PageCall, { row }: Pick<ShownAlert, "row">): Markup {
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

/** A silence or what else keeps it quiet, with its end and who made it. */
function quietLine(call: PageCall, { quiet }: ShownAlert): Piece {
  if (quiet === null) return false;
  const { by, kind, until, reason } = quiet;
  const above = by.startsWith("alert:") ? by.slice("alert:".length) : null;
  const words =
    above === null
      ? html`${kind === "maintenance" ? "Maintenance" : "Silenced"} until <time title="${exact(until, call.look.zone)}">${clockTime(call, until)}</time>: ${reason}`
      : html`Silenced while <a href="${call.base}${pathOf("a", above)}">#${above}</a> stands`;
  if (above !== null)
    return html`<p class="notice notice-warn">${words}. Nobody is told meanwhile.</p>`;
  return html`<div class="notice notice-warn" id="quiet"><p>${words}. Nobody is told meanwhile.</p>${silenceNotice(call, by)}</div>`;
}

/** When it was quiet last, of one that still stands: what was held back is told since. */
function quietBefore(call: PageCall, { row, quiet, entries }: ShownAlert): Piece {
  const over = entries.findLast(({ kind }) => kind === "silence_over");
  if (row.state !== "open" || quiet !== null || over === undefined) return false;
  const since = over.detail["since"];
  return html`<p class="soft">Silenced until ${clockTime(call, over.at)}${
    typeof since === "number" && html`, since ${clockTime(call, since)}`
  }; told then.</p>`;
}

/** How often the same came in the past day. */
function againLine(call: PageCall, { row }: ShownAlert): Piece {
  const earlier = earlierAlerts(call.tenant.store, row);
  const today = earlier.filter(({ opened_at }) => opened_at > row.opened_at - 86_400).length;
  if (today === 0) return false;
  return html`<p class="warn">${nth(today + 1)} time within a day${earlier.length >= 20 && " at least"}.</p>`;
}
