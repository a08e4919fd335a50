import { drillWrite, latestDrill, startDrill } from "../../../core/alerts/drill.ts";
import { type DrillReport, readDrill } from "../../../core/alerts/drill-report.ts";
import { type Simulation, simulateWrite } from "../../../core/alerts/simulate/shape.ts";
import { simulate } from "../../../core/alerts/simulate.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import type { StoredRule } from "../../../core/projects/rule.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { channelWords } from "../ui/channel-words.ts";
import { field, select } from "../ui/form.ts";
import { levelChoices } from "../ui/level.ts";
import { peopleNames } from "../ui/people-names.ts";
import { readNumber } from "../ui/plain.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { reachWords } from "../ui/reach-words.ts";
import { clockTime, span, until } from "../ui/times.ts";

/** Rings the rule's ladder for real: names the channels first, and says afterwards what arrived. */
export const drillScreen: Screen = {
  path: "/p/{project}/rules/{rule}/drill",
  view(call) {
    const { store } = call.tenant;
    const { project, rule } = of(call);
    const drill = latestDrill(store, rule.id);
    const watches = ["oncall:*", "people", `channels:${project.name}`];
    return {
      title: `Drill of ${rule.name}`,
      nav: "projects",
      sections: {
        head: () =>
          html`${projectTabs(call, project.name, "rules")}<p><a href="${call.base}${pathOf("p", project.name, "rules", rule.name)}">Rule ${rule.name}</a> · nothing is wrong in a drill; all the rest is real. It ends by itself after 15 minutes.</p>`,
        report: {
          watches: drill === null ? ["alerts"] : ["alerts", `alert:${drill}`],
          draw: () => (drill === null ? html`` : report(call, { project, rule, drill })),
        },
        ring: { watches, draw: () => ringForm(call, { project, rule }) },
      },
    };
  },
  forms: {
    "": {
      verb: "startDrill",
      act(call, form) {
        const level = readNumber(form.get("level") ?? "");
        const message = form.get("message") ?? "";
        const write = { message, ...(level === undefined ? {} : { level }) };
        const input = check(drillWrite, write, "body");
        const { rule } = of(call);
        const { id } = call.tenant.store.write((tx) =>
          startDrill(tx, rule, { ...input, by: call.who.accountId }),
        );
        return { said: `The drill has begun: #${id}.` };
      },
    },
  },
};

function of({ tenant: { store }, params }: PageCall): { project: Project; rule: StoredRule } {
  const project = getProject(store, params["project"] ?? "");
  return { project, rule: getRule(store, project.id, params["rule"] ?? "") };
}

/** Whom and what it would ring, named before it does. */
async function ringForm(
  call: PageCall,
  { project, rule }: { project: Project; rule: StoredRule },
): Promise<Markup> {
  const { store, slices } = call.tenant;
  const input = simulateWrite.parse({ rule: rule.name, at: call.now, horizon_hours: 1 });
  const found = await slices.run(simulate(store, { projectId: project.id, input, now: call.now }));
  const action = pathOf("p", project.name, "rules", rule.name, "drill");
  return html`<h2>Ring it for real</h2><p>For as long as nobody acknowledges it, it rings:</p>
${named(call, found)}
<form class="form" method="post" action="${call.base}${action}">
${select(call, action, { name: "level", label: "Level", choices: levelChoices("as the rule has it") })}
${field(call, action, { name: "message", label: "What people read after the word “Drill”", hint: "Leave empty to say that nothing is wrong, and who tries it.", prose: true })}
<p class="form-foot"><button class="button danger" data-busy="Ringing …">Ring them now</button></p></form>`;
}

/** By person and channel, each once. */
function named(call: PageCall, { rungs, shared }: Simulation): Markup {
  const began = call.now;
  const first = new Map<
    string,
    { at: number; one: Simulation["rungs"][number]["people"][number] }
  >();
  for (const { at, people } of rungs)
    for (const one of people)
      if (at - began <= 900 && !first.has(one.account_id)) first.set(one.account_id, { at, one });
  const told = shared.filter(({ reason }) => reason === null);
  const when = (at: number): string => (at - began < 60 ? "at once" : `after ${span(at - began)}`);
  if (first.size + told.length === 0) return html`<p class="wrong">Nobody and nothing.</p>`;
  return html`<ul class="who drill-named">${[...first.values()].map(
    ({ at, one }) =>
      html`<li class="who-item"><strong>${one.name}</strong> <span class="soft">${when(at)}</span><ul class="plain">${one.channels
        .filter(({ state }) => state !== "off")
        .map((channel) => html`<li>${channelWords(call, channel)}</li>`)}</ul></li>`,
  )}${[...new Set(told.map(({ name }) => name))].map(
    (name) =>
      html`<li class="who-item"><strong>${name}</strong> <span class="soft">shared channel, at once</span></li>`,
  )}</ul>`;
}

function report(
  call: PageCall,
  { project, rule, drill }: { project: Project; rule: StoredRule; drill: number },
): Markup {
  const found = readDrill(call.tenant.store, {
    projectId: project.id,
    id: drill,
    now: call.now,
  });
  const { state, began_at: began, ended_at: ended, verdict } = found;
  const kind = { good: " notice-good", warn: " notice-warn", error: " notice-wrong" };
  return html`<h2>The latest drill</h2>
<div class="notice${verdict.level !== null && kind[verdict.level]}"><p><strong>${verdict.sentence}</strong></p>
<p class="soft"><a href="${call.base}${pathOf("a", found.id)}">#${found.id}</a> began ${clockTime(call, began)}, ${state === "over" ? html`over${ended !== null && html` ${clockTime(call, ended)}`}` : html`ends in ${until(call, began + 900)}`}${acked(call, found)}</p></div>
${ways(call, { project, rule }, ["Arrived", found.arrived])}
${ways(call, { project, rule }, ["Still to come", found.waiting])}
${ways(call, { project, rule }, ["Missed", found.missed])}`;
}

function acked(call: PageCall, { acknowledged_by: by, acknowledged_at: at }: DrillReport): Piece {
  if (at === null) return false;
  return html`, acknowledged by ${by === null ? "its sender" : peopleNames(call.tenant.store)(by)} ${clockTime(call, at)}`;
}

function ways(
  call: PageCall,
  { project, rule }: { project: Project; rule: StoredRule },
  [name, all]: [string, DrillReport["arrived"]],
): Piece {
  if (all.length === 0) return false;
  const about = {
    project: project.name,
    rule: rule.name,
    nameOf: peopleNames(call.tenant.store),
  };
  return html`<h3>${name}</h3><ul class="who">${all.map((entry) => {
    const { dot, words, change } = reachWords(entry, call, about);
    const by = [entry.via, entry.address].filter((part) => part !== null).join(" ");
    return html`<li class="who-item"><span class="dot dot-${dot}" aria-hidden="true"></span> <strong>${entry.name ?? ""}</strong> <span class="soft">${by}</span> <span>${words}${entry.after_seconds !== null && ` (${entry.after_seconds} s)`}</span>${change !== null && html` · ${change}`}</li>`;
  })}</ul>`;
}
