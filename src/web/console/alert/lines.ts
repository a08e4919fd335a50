import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type LinesAround, readLinesAround } from "../../../in/ingest/lines-around.ts";
import { type PageCall, pathOf } from "../screen.ts";
import { levelWord } from "../ui/level.ts";
import { markedParts } from "../ui/message.ts";
import { counted } from "../ui/pieces.ts";
import { clockSeconds } from "../ui/times.ts";
import { newRulePage, remedy } from "../ui/way.ts";
import type { ShownAlert } from "./shown-alert.ts";

/** What lines are asked for, as the address says it. */
export type AskedLines = ReturnType<typeof askedLines>;

/** What a page of lines can be cut down to. */
export const LINE_LEVELS = [200, 300, 400, 500] as const;

export function askedLines(query: URLSearchParams) {
  const at = Number(query.get("at") ?? Number.NaN);
  return {
    source: query.get("source") ?? "",
    template: query.get("template") ?? "",
    q: (query.get("q") ?? "").slice(0, 200),
    /** That, or above; 0: all. */
    level: LINE_LEVELS.find((level) => String(level) === query.get("level")) ?? 0,
    /** Unix seconds: the minute that somebody looked at; null: about the opening. */
    at: Number.isSafeInteger(at) && at > 0 ? at : null,
  };
}

const NO_LINES: AskedLines = { source: "", template: "", q: "", level: 0, at: null };

/** Kept lines around the opening, or in the minute that was asked for. */
export function readLines(
  { tenant }: PageCall,
  { row }: ShownAlert,
  { asked, limit }: { asked: AskedLines; limit: number },
): LinesAround {
  const { source, template, q, level, at } = asked;
  return readLinesAround(tenant.store, row.id, {
    query: {
      limit,
      ...(source !== "" && { source }),
      ...(template !== "" && { template }),
      ...(q !== "" && { q }),
      ...(level > 0 && { min_level: level }),
      ...(at !== null && { after: at, before: at + 59 }),
    },
    rootOf: tenant.ingest.rootOf,
  });
}

const ON_PAGE = 14;

/** The lines nearest to the opening, and what varies in those of the alert's own kind. */
export function linesSection(call: PageCall, shown: ShownAlert): Markup {
  const found = readLines(call, shown, { asked: NO_LINES, limit: ON_PAGE });
  const { id } = shown.row;
  return html`<div class="card-head"><h2>Lines around it</h2><a href="${call.base}/a/${id}/lines" data-key="l" aria-keyshortcuts="l" title="All lines around it (l)">All of them</a></div>
${found.messages.length === 0 ? noLines(call, shown) : html`${lineList(call, shown, found)}${variables(call, shown, found)}`}`;
}

/** Why there is none, and what would bring some. */
export function noLines(call: PageCall, { row }: ShownAlert): Markup {
  const keep = remedy(call, pathOf("p", row.project), "Keep logs from now on");
  return html`<p class="soft">No lines are kept from this time. A source keeps its lines only if you turn that on.${keep !== null && html` ${keep}`}</p>`;
}

/** One under another, the alert's own kind marked by a bar. */
export function lineList(call: PageCall, { row }: ShownAlert, { messages }: LinesAround): Markup {
  const isOwn = ownKind(call, row);
  const opening = messages.find((line) => isOwn(line) && line.received_at >= row.opened_at);
  return html`<ol class="lines" tabindex="0" aria-label="Lines">${messages.map(
    (line) =>
      html`<li class="line${isOwn(line) && " line-own"}" id="l-${line.id}"><span class="line-time">${clockSeconds(call, line.received_at)}</span><span class="line-level">${levelWord(line.level)}</span><span class="line-source">${line.source}</span><p class="message" dir="auto">${markedParts(line.parts)}</p>${
        line === opening && html`<span class="soft">← opened here</span>`
      }${lineMenu(call, row, line)}</li>
`,
  )}</ol>`;
}

/** Whether a line is of the alert's own template, or of one that became the same. */
function ownKind({ tenant: { ingest } }: PageCall, row: ShownAlert["row"]) {
  const own = ingest.rootOf(row.project_id, row.template_id);
  return (line: Line) => ingest.rootOf(row.project_id, line.template_id) === own;
}

type Line = LinesAround["messages"][number];

function lineMenu(call: PageCall, { id, project }: ShownAlert["row"], line: Line): Piece {
  const rule = newRulePage(project);
  const { base } = call;
  return html`<span class="line-more"><a href="${base}/a/${id}/lines?template=${line.template_id}" aria-label="Lines like this">like this</a>${
    call.leads(rule) &&
    html` · <a href="${base}${rule}?template=${line.template_id}&amp;line=${line.id}" aria-label="New rule from this line">new rule</a>`
  } · <a href="${base}/silences/new?project=${encodeURIComponent(project)}&amp;line=${line.id}" aria-label="Silence this kind of line">silence</a></span>`;
}

const MOST_VALUES = 6;

/** What varies, with counts; each value leads to its lines. */
export function variables(
  call: PageCall,
  shown: ShownAlert,
  { variables: all, messages }: LinesAround,
): Piece {
  const { row } = shown;
  if (all.length === 0) return false;
  const lines = messages.filter(ownKind(call, row));
  const own = lines.length;
  const to = (value: string) =>
    `${call.base}/a/${row.id}/lines?${new URLSearchParams({ q: value }).toString()}`;
  return html`<p class="lines-vary"><strong>What varies in ${counted(own, "line")} like it</strong></p><dl class="facts">${all.map(
    ({ position, values }) =>
      html`<div><dt>part ${position}</dt><dd>${values
        .slice(0, MOST_VALUES)
        .map(
          ({ value, count }, i) =>
            html`${i > 0 && ", "}<a href="${to(value)}"><var>${value}</var></a> ${count} ×`,
        )}${values.length > MOST_VALUES && `, and ${values.length - MOST_VALUES} more`}${asIdentifier(call, shown, { lines, position })}</dd></div>`,
  )}</dl>`;
}

/** A way to have one alert for each value of a part, where a key of the events holds it. */
function asIdentifier(
  { base }: PageCall,
  { row, rule }: ShownAlert,
  { lines, position }: { lines: readonly Line[]; position: number },
): Piece {
  const key = keyOfPart(lines, position);
  if (rule === null || key === null) return false;
  if (rule.identifier_keys.includes(key))
    return html` <span class="soft">the identifier ${key}</span>`;
  const query = new URLSearchParams({ identifier: key });
  return html` <a href="${base}${pathOf("p", row.project, "rules", rule.name)}?${query.toString()}">Make it an identifier</a> <span class="soft">(${key})</span>`;
}

/** The key that has a variable part's text in each of these lines; null where none has. */
function keyOfPart(
  lines: readonly Pick<Line, "parts" | "keys">[],
  position: number,
): string | null {
  const [first] = lines;
  if (first === undefined) return null;
  const textOf = ({ parts }: Pick<Line, "parts">) =>
    parts.filter(({ variable }) => variable)[position - 1]?.text;
  const isThere = (key: string) =>
    lines.every((line) => {
      const text = textOf(line);
      return text !== undefined && String(line.keys?.[key] ?? "") === text;
    });
  return Object.keys(first.keys ?? {}).find(isThere) ?? null;
}
