import { lookAhead } from "../../../core/alerts/rungs-ahead.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { lastOfAll, nowLine, nowWords } from "../ui/alert-now.ts";
import { facesOf } from "../ui/faces.ts";
import { button } from "../ui/form.ts";
import { silenceNotice } from "../ui/silence-card.ts";
import { clockTime, until } from "../ui/times.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** Who is told or has it, and what comes next and when: one line to read at three in the morning. */
export async function nowStrip(call: PageCall, shown: ShownAlert): Promise<Markup> {
  const { row, nameOf } = shown;
  const { store } = call.tenant;
  const now = nowWords(call, row, {
    nameOf,
    faces: await facesOf(call),
    look: lookAhead(store, call.now),
    last: lastOfAll(store, [row]),
  });
  const right: Piece =
    row.state === "acknowledged"
      ? resolveButton(call, row.id)
      : row.state === "open" &&
        now.at !== null &&
        html`<b class="now-left">${until(call, now.at)}</b>`;
  return html`${nowLine(now, right)}${quietLine(call, shown)}`;
}

/** Far from where *Acknowledge* stands. */
export const resolveButton = (call: PageCall, id: number): Markup =>
  button(call, {
    action: `/a/${id}/resolve`,
    name: "Resolve",
    key: "r",
    kind: "second",
    id: "do-resolve",
  });

/** A silence or what else keeps it quiet, with its end and who made it. */
function quietLine(call: PageCall, { quiet }: ShownAlert): Piece {
  if (quiet === null) return false;
  const { by, kind, until: over, reason } = quiet;
  const above = by.startsWith("alert:") ? by.slice("alert:".length) : null;
  if (above !== null)
    return html`<p class="notice notice-warn">Silenced until <a href="${call.base}${pathOf("a", above)}">#${above}</a> is resolved. Nobody is notified meanwhile.</p>`;
  const why = kind === "maintenance" ? "Maintenance" : "Quiet";
  const all = silenceNotice(call, by);
  return html`<div class="notice notice-warn" id="quiet">${all === false ? html`<p>${why} until ${clockTime(call, over)}: ${reason}.</p>` : all}</div>`;
}
