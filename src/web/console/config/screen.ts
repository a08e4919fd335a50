import { getProject } from "../../../core/projects/projects.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { projectText } from "../ui/config-text.ts";
import { ladderEndWords } from "../ui/ladder-end.ts";
import { managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { configForms, type MadeByText, type ShownPlan } from "./forms.ts";

const FILE = "project.yaml";

/** A project as text: read, kept, and changed with a plan first. For those who manage. */
export const configScreen: Screen = {
  path: "/p/{project}/config",
  view(call) {
    const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
    const mayWrite = isManager(call.who.role);
    return {
      title: `${name} · As text`,
      heading: html`${name}`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, name, "config"),
        ...(mayWrite
          ? {
              made: () => madeNotice(call),
              plan: () => planned(call),
              editor: () => editor(call, name),
            }
          : {
              whom: () =>
                html`<p class="soft">Owners and admins read and write a project as text. Ask ${managers(call)}.</p>`,
            }),
      },
    };
  },
  forms: configForms,
  files: {
    async [FILE](call) {
      mustManage(call.who.role);
      const { name } = getProject(call.tenant.store, call.params["project"] ?? "");
      return {
        name: `${name}.yaml`,
        type: "application/yaml; charset=utf-8",
        body: await projectText(call.tenant, name),
      };
    },
  },
};

const atOf = (name: string) => pathOf("p", name, "config");

const planOf = ({ shown }: PageCall): ShownPlan | null =>
  shown["plan"] === undefined ? null : (JSON.parse(shown["plan"]) as ShownPlan);

async function editor(call: PageCall, name: string): Promise<Markup> {
  const { base, shown, returned, tenant } = call;
  const at = atOf(name);
  const text = returned?.form.get("text") ?? shown["text"] ?? (await projectText(tenant, name));
  const faults = returned?.error.details.filter(({ field }) => field === "/text") ?? [];
  const isBad = faults.length > 0;
  return html`<h2>The project as text</h2>
<p class="soft small">As <code>box config export --project ${name}</code> prints it; secrets say <code>kept</code>: they stay as they are stored. <a href="${base}${at}/${FILE}" download>Export</a></p>
<form class="form" id="config-form" method="post" action="${base}${at}">
<div class="field"><label for="config-text">YAML, or JSON</label>
<textarea id="config-text" name="text" rows="24" class="mono" spellcheck="false" autocapitalize="off"${isBad && html` aria-invalid="true" aria-describedby="config-wrong"`}>
${text}</textarea>${isBad && html`<div id="config-wrong">${faults.map(({ reason }) => html`<p class="wrong">${reason}</p>`)}</div>`}</div>
<p class="form-foot"><button class="button" formaction="${base}${at}/plan" data-busy="Planning …">Plan</button><a href="${base}${at}">As it is now</a></p></form>`;
}

/** What would change, and the button that does it: to the project as it was planned for, or not at all. */
function planned(call: PageCall): Markup {
  const plan = planOf(call);
  if (plan === null) return html``;
  const { changes, ladders_end: ladders, diff, version, digest } = plan;
  if (changes.length === 0)
    return html`<div class="notice notice-good"><p>Nothing changes: the project is as the text says.</p></div>`;
  const gone = changes.filter(({ change }) => change === "delete").length;
  return html`<div class="notice"><h2>${counted(changes.length, "change")}</h2>
<ul>${changes.map(({ change, kind, name, was }) => html`<li${change === "delete" && html` class="wrong"`}>${was === undefined ? `${change} ${kind} ${name}` : `rename ${kind} ${was} to ${name}`}</li>`)}${ladders.map((end) => html`<li class="wrong">${ladderEndWords(end)}</li>`)}</ul>
<pre class="code" tabindex="0" aria-label="What differs">${diff.map(
    (line) => html`${line}
`,
  )}</pre>
<input type="hidden" name="version" value="${version}" form="config-form"><input type="hidden" name="digest" value="${digest}" form="config-form">
${gone > 0 && html`<label class="check" for="config-delete"><input type="checkbox" id="config-delete" name="delete" value="true" form="config-form"> Also delete what isn't in the text (${gone})</label>`}
${ladders.length > 0 && html`<label class="check" for="config-ladders"><input type="checkbox" id="config-ladders" name="ladders" value="true" form="config-form"> Also end the ladders of open alerts</label>`}
<p class="form-foot"><button class="button" form="config-form" data-busy="Applying …">Apply</button></p></div>`;
}

function madeNotice({ shown }: PageCall): Markup {
  const made = JSON.parse(shown["made"] ?? "[]") as MadeByText[];
  if (made.length === 0) return html``;
  return html`<div class="notice notice-warn"><h2>Made just now</h2><p>Shown only now: give each to who needs it.</p>${made.map(
    ({ what, secret }, i) =>
      html`<h3>${what}</h3><div class="snippet"><pre class="code" id="made-${i}">${secret}</pre><button type="button" class="button second" data-copy="made-${i}" hidden>Copy</button></div>
`,
  )}</div>`;
}
