import { projectWrite } from "../../../core/projects/project.ts";
import { getProject } from "../../../core/projects/projects.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { callProject, dropProject, projectContents } from "../../../tenant/project-verbs.ts";
import { type Form, type PageCall, pathOf } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { field } from "../ui/form.ts";
import { managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";

/** What only managers do to a project; others are told whom to ask. */
export function governSection(call: PageCall, project: string): Markup {
  if (!isManager(call.who.role))
    return html`<p class="soft">Owners and admins rename and delete projects. Ask ${managers(call)}.</p>`;
  const at = pathOf("p", project);
  const [rename, remove] = [`${at}/rename`, `${at}/delete`];
  const isOpen = (action: string) => call.returned?.action === action && html` open`;
  return html`<details id="rename"${isOpen(rename)}><summary>Rename the project</summary>
<form class="form" method="post" action="${call.base}${rename}">
${field(call, rename, { name: "name", label: "New name", value: project, required: true, autocomplete: "off", hint: "Tokens still work. The addresses of its pages change." })}
<p class="form-foot"><button class="button second">Rename</button></p></form></details>
<details id="delete"${isOpen(remove)}><summary>Delete the project</summary>
<p>${goes(call, project)}</p>
<form class="form" method="post" action="${call.base}${remove}">
${field(call, remove, { name: "name", label: "Its name, to be sure", required: true, autocomplete: "off" })}
<p class="form-foot"><button class="button danger">Delete it with all of this</button></p></form></details>
${changesLink(call, "project", getProject(call.tenant.store, project).id)}`;
}

/** What goes with it, counted. */
function goes({ tenant }: PageCall, project: string): string {
  const of = projectContents(tenant.store, project);
  const parts = [
    of.open > 0
      ? `${counted(of.alerts, "alert")}, ${of.open} of them not resolved`
      : counted(of.alerts, "alert"),
    counted(of.sources, "source"),
    counted(of.rules, "rule"),
    counted(of.channels, "channel"),
    counted(of.actions, "action"),
    counted(of.schedules, "schedule"),
  ];
  return `With it go ${parts.join("; ")}; and its kept lines. Its senders are refused from then on. It can't be undone.`;
}

export const governForms: Readonly<Record<string, Form>> = {
  rename: {
    verb: "renameProject",
    act({ tenant, who, params }, form) {
      mustManage(who.role);
      const { name } = check(projectWrite, { name: form.get("name") ?? "" }, "body");
      tenant.store.write((tx) => callProject(tx, params["project"] ?? "", name));
      return { said: `Its name is ${name} now.`, to: pathOf("p", name) };
    },
  },
  delete: {
    verb: "deleteProject",
    act({ tenant, who, params }, form) {
      mustManage(who.role);
      const { project = "" } = params;
      if (form.get("name") !== project)
        throw new ServiceError("name_mismatch", "That is not the project's name.", {
          details: [{ field: "/name", reason: `must be ${project}` }],
        });
      tenant.store.write((tx) => dropProject(tx, project));
      return { said: `Project ${project} is deleted.`, to: "/p" };
    },
  },
};
