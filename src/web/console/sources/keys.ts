import { getProject } from "../../../core/projects/projects.ts";
import { sourceKeyAdd } from "../../../core/projects/source.ts";
import {
  addSourceKey,
  deleteSourceKey,
  listSourceKeys,
} from "../../../core/projects/source-keys.ts";
import { EVENTS, HEARTBEATS } from "../../../core/projects/sources.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { type Form, type PageCall, pathOf } from "../screen.ts";
import { button, field } from "../ui/form.ts";
import { clockTime } from "../ui/times.ts";

/** Keys of an earlier tool that open a source, too. */
export const keyForms: Readonly<Record<string, Form>> = {
  "keys/add": {
    verb: "addSourceKey",
    act({ tenant, who, params: { project = "", source = "" } }, form) {
      mustManage(who.role);
      const { key } = check(sourceKeyAdd, { key: (form.get("key") ?? "").trim() }, "body");
      tenant.store.write((tx) => addSourceKey(tx, getProject(tx, project), { name: source, key }));
      return { said: "The key opens this source from now on." };
    },
  },
  "keys/{source_key}/delete": {
    verb: "deleteSourceKey",
    act({ tenant, who, params: { project = "", source = "", source_key: id = "" } }) {
      mustManage(who.role);
      tenant.store.write((tx) =>
        deleteSourceKey(tx, getProject(tx, project), { name: source, id }),
      );
      return { said: "The key opens nothing any more." };
    },
  },
};

/** Nothing for a source whose senders have no keys of other tools, nor for whom keys are not. */
export function keysSection(
  call: PageCall,
  { project, source }: { project: string; source: { name: string; kind: string } },
): Markup {
  const { store } = call.tenant;
  if (!isManager(call.who.role) || source.kind === EVENTS || source.kind === HEARTBEATS)
    return html``;
  const at = `${pathOf("p", project, "sources", source.name)}/keys`;
  const keys = listSourceKeys(store, getProject(store, project), source.name);
  const isBack = call.returned?.action === `${at}/add`;
  return html`<h2>Further keys</h2>
<p class="soft">A sender may go on with the key that it has of an earlier tool. The box keeps only its hash.</p>
${keys.length > 0 && html`<ul class="who">${keys.map(({ id, added_at }) => html`<li class="who-item"><span>Key ${id}, added ${clockTime(call, added_at)}</span><span class="buttons">${button(call, { action: `${at}/${id}/delete`, name: "Remove", kind: "danger", label: `Remove key ${id}` })}</span></li>`)}</ul>`}
<details id="add-key"${isBack && html` open`}><summary>Add a key</summary><form class="form" method="post" action="${call.base}${at}/add">
${field(call, `${at}/add`, { name: "key", label: "Key", type: "password", required: true, autocomplete: "off", hint: "As the sender has it: 20 to 64 letters, digits and dashes." })}
<p class="form-foot"><button class="button second">Add</button></p></form></details>`;
}
