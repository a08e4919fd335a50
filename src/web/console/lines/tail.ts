import { getProject } from "../../../core/projects/projects.ts";
import { listSources } from "../../../core/projects/sources.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { type LogLine, readLogTail } from "../../../in/ingest/logtail.ts";
import { textOfTemplate } from "../../../in/ingest/templates.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { keyed, optionsOf } from "../ui/form.ts";
import { levelChoices, levelWord, orWorse } from "../ui/level.ts";
import { markedTemplate } from "../ui/message.ts";
import { counted, empty } from "../ui/pieces.ts";
import { clockSeconds } from "../ui/times.ts";
import { newRulePage } from "../ui/way.ts";
import { linesTabs } from "./tabs.ts";

const MOST = 200;

/** What a project's sources sent last, as far as their lines are kept. */
export const tailScreen: Screen = {
  path: "/p/{project}/lines",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    return {
      title: `${name} · Lines`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: () => linesTabs(call, name, "tail"),
        filter: { watches: [`project:${name}`], draw: () => filterLine(call, name) },
        lines: {
          watches: isPaused(call) ? [] : [`project:${name}`, `lines:${name}`],
          draw: () => lineTail(call, name),
        },
      },
    };
  },
};

const isPaused = ({ query }: PageCall) => query.get("live") === "off";

/** The same page, going on by itself or not. */
function pauseLink(call: PageCall): Markup {
  const query = new URLSearchParams(call.query);
  if (isPaused(call)) query.delete("live");
  else query.set("live", "off");
  const [path = ""] = call.at.split("?");
  const name = isPaused(call) ? "Go on" : "Pause";
  return html`<a href="${call.base}${path}${query.size > 0 && `?${query.toString()}`}"${keyed("p", name)}>${name}</a>`;
}

const LEVELS = levelChoices("any level", orWorse);

function askedTail({ query }: PageCall) {
  const text = (name: string) => (query.get(name) ?? "").slice(0, 200);
  const level = text("level");
  return {
    q: text("q").trim(),
    source: text("source"),
    template: text("template"),
    /** null: any. */
    level: /^\d{1,6}$/.test(level) ? Number(level) : null,
  };
}

function filterLine(call: PageCall, project: string): Markup {
  const { store } = call.tenant;
  const asked = askedTail(call);
  const home = getProject(store, project);
  const at = call.base + pathOf("p", project, "lines");
  const sources = listSources(store, home).map(({ name }) => name);
  const option = (value: string, words: string, chosen: string) =>
    html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`;
  const isAsked =
    asked.q !== "" || asked.source !== "" || asked.template !== "" || asked.level !== null;
  return html`<form class="filters" method="get" action="${at}" role="search">
<input type="search" id="q" name="q" value="${asked.q}" maxlength="200" aria-label="Words in the lines" placeholder="Words in the lines"${keyed("/", "Search")}>
<select id="f-level" name="level" aria-label="Level">${optionsOf(LEVELS, String(asked.level ?? ""))}</select>
<select id="f-source" name="source" aria-label="Source">${option("", "any source", asked.source)}${sources.map((name) => option(name, name, asked.source))}</select>
${asked.template !== "" && html`<input type="hidden" name="template" value="${asked.template}">`}<button class="button second">Search</button>${isAsked && html`<a href="${at}">Clear</a>`}</form>
${asked.template !== "" && html`<p>Only: <span class="message" dir="auto">${markedTemplate(textOfTemplate(store, home.id, asked.template))}</span></p>`}`;
}

async function lineTail(call: PageCall, project: string): Promise<Markup> {
  const { tenant } = call;
  const home = getProject(tenant.store, project);
  const { q, source, template, level } = askedTail(call);
  const isAsked = q !== "" || source !== "" || template !== "" || level !== null;
  const seen = seenBefore(call);
  const tail = readLogTail(tenant.store, home.id, {
    limit: MOST,
    since: seen?.newest,
    q,
    source,
    template,
    level: level ?? undefined,
    rootOf: (id) => tenant.ingest.rootOf(home.id, id),
  });
  const { messages, complete, left_out } = await tenant.slices.run(tail);
  if (messages.length === 0) return html`${noneOf(call, project, isAsked)}${seenMark(0, 0)}`;
  const missed = (seen?.missed ?? 0) + left_out;
  return html`<p class="soft">${messages.length === MOST ? `The newest ${MOST} lines` : `All ${counted(messages.length, "line")}`}${!complete && " among the newest that were searched"}, newest last.${missed > 0 && html` <span class="warn">+${missed.toLocaleString("en")} not shown</span>.`} ${pauseLink(call)} <a class="noscript" href="${call.base}${call.at}">Look again</a></p>
<ol class="lines" tabindex="0" aria-label="Lines">${messages.map((line) => one(call, project, line))}</ol>${seenMark(messages.at(-1)?.id ?? 0, missed)}`;
}

/** What an open page has seen, which its script says again: the newest line, and how many it couldn't show so far. */
const seenMark = (newest: string | number, missed: number): Markup =>
  html`<span hidden data-seen="l-${newest}-${missed}"></span>`;

function seenBefore({ rows }: PageCall): { newest: number; missed: number } | null {
  const [first = ""] = rows.keys();
  const [, newest, missed] = /^l-(\d{1,15})-(\d{1,15})$/.exec(first) ?? [];
  return newest === undefined ? null : { newest: Number(newest), missed: Number(missed) };
}

function noneOf(call: PageCall, project: string, isAsked: boolean): Markup {
  const at = pathOf("p", project);
  return isAsked
    ? empty("No kept line matches.", html`<a href="${call.base}${at}/lines">Clear</a>`)
    : empty(
        "No line is kept.",
        html`<p class="soft">A source keeps its lines only if you turn that on.</p><a class="button second" href="${call.base}${at}">To the sources</a>`,
      );
}

function one(call: PageCall, project: string, line: LogLine): Markup {
  const { id, received_at, level, source, message, template_id } = line;
  const at = pathOf("p", project);
  const rule = newRulePage(project);
  return html`<li class="line" id="l-${id}"><span class="line-time">${clockSeconds(call, received_at)}</span><span class="line-level">${levelWord(level)}</span><span class="line-source">${source}</span><p class="message" dir="auto">${message}</p><span class="line-more"><a href="${call.base}${at}/lines?template=${template_id}" aria-label="Lines like this">like this</a>${
    call.leads(rule) &&
    html` <a href="${call.base}${rule}?template=${template_id}&amp;line=${id}" aria-label="A rule from this line">rule</a>`
  } <a href="${call.base}/silences/new?project=${encodeURIComponent(project)}&amp;line=${id}" aria-label="Silence this kind of line">silence</a></span></li>
`;
}
