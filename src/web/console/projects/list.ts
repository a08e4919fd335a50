import { projectWrite } from "../../../core/projects/project.ts";
import { createProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { overviewOf, type ProjectNow } from "../../../tenant/overview.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { field, keyed } from "../ui/form.ts";
import { everybody } from "../ui/people-names.ts";
import { empty } from "../ui/pieces.ts";
import { hourPlot } from "../ui/plot.ts";
import { way } from "../ui/way.ts";

const AT = "/p";
const PAGE = 100;

/** All projects: what each hears, what is wrong, who is on call. */
export const projectsScreen: Screen = {
  path: AT,
  view: (call) => ({
    title: "Projects",
    nav: "projects",
    sections: {
      projects: {
        watches: ["projects", "project:*", "alerts", "oncall:*"],
        draw: () => projectTable(call),
      },
      new: () => newProject(call),
    },
  }),
  forms: {
    "": {
      verb: "createProject",
      act({ tenant }, form) {
        const { name } = check(projectWrite, { name: form.get("name") ?? "" }, "body");
        tenant.store.write((tx) => createProject(tx, name));
        return { said: `Project ${name} is made. Connect what sends.`, to: pathOf("p", name) };
      },
    },
  },
};

function projectTable(call: PageCall): Markup {
  const after = call.query.get("after") ?? "";
  const page = { after, limit: PAGE };
  const { projects, next } = overviewOf(call.tenant, { accountId: call.who.accountId, ...page });
  if (projects.length === 0 && after === "")
    return empty(
      "No project yet.",
      html`<p class="soft">A project has sources that send events, rules that page people, and channels that get messages. Make one below, or begin with the first steps.</p>${way(call, "/welcome", "First steps")}`,
    );
  const names = new Map(everybody(call.tenant.store).map(({ id, name }) => [id, name]));
  return html`<p>${way(call, "/ladders", "Ladders: who is paged and when, for rules of all projects")}</p><div class="table-wrap"><table class="table stacked"><thead><tr><th>project</th><th class="num">open alerts</th><th>events, last hour</th><th class="num">sources</th><th class="num">rules</th><th>channels</th><th>on call</th></tr></thead>
<tbody>${projects.map((one) => row(call, one, names))}</tbody></table></div>
${next !== null && html`<nav class="pages" aria-label="Pages"><a href="${call.base}${AT}?after=${encodeURIComponent(next)}">More projects</a></nav>`}`;
}

function row(call: PageCall, one: ProjectNow, names: ReadonlyMap<string, string>): Markup {
  const { project, alerts, rules, sources, channels, on_call } = one;
  const at = pathOf("p", project);
  const open = `/alerts?project=${encodeURIComponent(project)}`;
  const minutes = sumOf(sources.map((source) => source.minutes));
  return html`<tr><td data-label="project"><a href="${call.base}${at}">${project}</a></td>
<td class="num" data-label="open alerts">${alerts.open === 0 ? html`<span class="soft">none</span>` : html`<a href="${call.base}${open}">${alerts.open}</a>`}</td>
<td data-label="last hour">${hourPlot(minutes)}</td>
<td class="num" data-label="sources">${sources.length}</td>
<td class="num" data-label="rules">${way(call, `${at}/rules`, String(rules))}</td>
<td data-label="channels">${channelsWord(call, at, channels)}</td>
<td data-label="on call">${onCall(on_call, names)}</td></tr>
`;
}

/** Sixty counts each → their sums. */
function sumOf(hours: readonly (readonly number[])[]): number[] {
  return Array.from({ length: 60 }, (_, i) =>
    hours.reduce((sum, minutes) => sum + (minutes[i] ?? 0), 0),
  );
}

/** The worst of its channels, in a shape and a word. */
function channelsWord(call: PageCall, at: string, of: ProjectNow["channels"]): Markup {
  const words: [n: number, dot: string, word: string][] = [
    [of.failing, "failing", of.failing === 1 ? "fails" : "fail"],
    [of.off, "none", "off"],
    [of.never_tried, "accepted", "never tried"],
    [of.works, "shown", of.works === 1 ? "works" : "work"],
  ];
  const worst = words.find(([n]) => n > 0);
  if (worst === undefined) return html`<span class="soft">none</span>`;
  const [n, dot, word] = worst;
  return html`<span class="dot dot-${dot}" aria-hidden="true"></span> ${way(call, `${at}/channels`, `${n} ${word}`)}`;
}

function onCall(all: ProjectNow["on_call"], names: ReadonlyMap<string, string>): Piece {
  if (all.length === 0) return html`<span class="soft">no schedule</span>`;
  return all.map(
    ({ schedule, accounts, off }, i) =>
      html`${i > 0 && ", "}<span title="${schedule}">${accounts.length === 0 ? nobody(schedule, off) : accounts.map((id) => names.get(id) ?? "somebody who was removed").join(", ")}</span>`,
  );
}

const nobody = (schedule: string, off: boolean): Markup =>
  off
    ? html`nobody, outside of its hours (${schedule})`
    : html`<span class="warn">nobody (${schedule})</span>`;

function newProject(call: PageCall): Markup {
  return html`<h2>New project</h2>
<form class="form" method="post" action="${call.base}${AT}">
${field(call, AT, { name: "name", label: "Name", required: true, autocomplete: "off", hint: "The name of a service or a team, like “payments”. It can be renamed." })}
<p class="form-foot"><button class="button"${keyed("n", "Make the project")}>Make the project</button></p></form>`;
}
