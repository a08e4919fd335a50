import { earlierAlerts } from "../../../core/alerts/detail.ts";
import { listAlerts } from "../../../core/alerts/list.ts";
import { findSourceNamed } from "../../../core/projects/sources.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { levelBadge } from "../ui/level.ts";
import { markedParts } from "../ui/message.ts";
import { counted } from "../ui/pieces.ts";
import { ago, span } from "../ui/times.ts";
import { way } from "../ui/way.ts";
import type { ShownAlert } from "./shown-alert.ts";

const EARLIER = 5;
const OPEN = 6;
const MOST_RULES = 10;

/** What was so before, and what else is going on: the fastest hint at three in the morning. */
export function related(call: PageCall, { row, nameOf }: ShownAlert): Markup {
  const { store } = call.tenant;
  const earlier = earlierAlerts(store, row);
  const { alerts } = listAlerts(store, {
    projectId: row.project_id,
    states: ["open"],
    limit: OPEN,
  });
  const others = alerts.filter(({ id }) => id !== String(row.id)).slice(0, OPEN - 1);
  const { base } = call;
  return html`<h2>Related</h2>
${
  earlier.length === 0
    ? html`<p class="soft">This never happened before.</p>`
    : html`<h3>${counted(earlier.length, "earlier time")}${earlier.length >= 20 && " at least"}</h3><ul>${earlier
        .slice(0, EARLIER)
        .map(
          ({ id, opened_at, resolved_at, resolved_by, count }) =>
            html`<li><a href="${base}/a/${id}">#${id}</a> ${ago(call, opened_at)}${
              resolved_at !== null &&
              `, for ${span(resolved_at - opened_at)}, ${resolved_by === null ? "ended by itself" : `resolved by ${nameOf(resolved_by)}`}`
            }, ${count} ×</li>`,
        )}</ul>`
}
${
  others.length === 0
    ? html`<p class="soft">Nothing else is open in ${row.project}.</p>`
    : html`<h3>Also open in ${row.project}</h3><ul>${others.map(
        ({ id, level, title_parts, apart, opened_at }) =>
          html`<li>${levelBadge(level)} <a class="message" href="${base}/a/${id}">${markedParts(title_parts)}</a> ${apart.map(({ name, value }) => `${name}=${value} `)}${ago(call, opened_at)}</li>`,
      )}</ul>`
}${alsoTaken(call, row)}`;
}

/** Rules besides its own that would take the latest of its events, as far as the alert knows it. */
function alsoTaken(call: PageCall, row: ShownAlert["row"]): Piece {
  const { store, ingest } = call.tenant;
  const place = { project: row.project, source: row.source ?? "" };
  const source = findSourceNamed(store, place);
  if (source === null) return false;
  const keys = JSON.parse(row.identifiers) as Record<string, string>;
  const event = { message: row.last_message, level: row.level, keys, tags: null };
  const names = ingest.takers(source, event).filter((name) => name !== row.rule);
  if (names.length === 0) return false;
  return html`<h3>Matched by other rules, too</h3><p>${names
    .slice(0, MOST_RULES)
    .map(
      (name, i) =>
        html`${i > 0 && ", "}${way(call, pathOf("p", row.project, "rules", name), name)}`,
    )}${names.length > MOST_RULES && ` and ${names.length - MOST_RULES} more`}</p>`;
}
