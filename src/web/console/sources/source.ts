import { getProject } from "../../../core/projects/projects.ts";
import { sourceKeyAdd, sourceRename } from "../../../core/projects/source.ts";
import {
  addSourceKey,
  deleteSourceKey,
  listSourceKeys,
} from "../../../core/projects/source-keys.ts";
import {
  changeSource,
  deleteSource,
  EVENTS,
  getSource,
  HEARTBEATS,
  rotateToken,
} from "../../../core/projects/sources.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { setUpOf } from "../../../in/connect/connect.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { callSource, sourceFactsOf } from "../../../tenant/source-verbs.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { button, field } from "../ui/form.ts";
import { heardSection } from "../ui/heard.ts";
import { managers } from "../ui/people-names.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { kindTitle } from "../ui/source-kinds.ts";
import { ago, clockTime } from "../ui/times.ts";
import { way } from "../ui/way.ts";
import { setUpNotice, shownSetUp } from "./set-up.ts";

/** Keys of an earlier tool that open a source, too. */
const keyForms: Readonly<Record<string, Form>> = {
  "keys/add": {
    verb: "addSourceKey",
    act({ tenant, who, params: { project = "", source = "" } }, form) {
      mustManage(who.role);
      const { key } = check(sourceKeyAdd, { key: (form.get("key") ?? "").trim() }, "body");
      tenant.store.write((tx) => addSourceKey(tx, getProject(tx, project), { name: source, key }));
      return { said: "The source accepts this key from now on." };
    },
  },
  "keys/{source_key}/delete": {
    verb: "deleteSourceKey",
    act({ tenant, who, params: { project = "", source = "", source_key: id = "" } }) {
      mustManage(who.role);
      tenant.store.write((tx) =>
        deleteSourceKey(tx, getProject(tx, project), { name: source, id }),
      );
      return { said: "The source no longer accepts the key." };
    },
  },
};

/** Nothing for a source whose senders have no keys of other tools, nor for whom keys are not. */
function keysSection(
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
<p class="soft">A sender may keep the key that it has from an earlier tool. The box keeps only its hash.</p>
${keys.length > 0 && html`<ul class="who">${keys.map(({ id, added_at }) => html`<li class="who-item"><span>Key ${id}, added ${clockTime(call, added_at)}</span><span class="buttons">${button(call, { action: `${at}/${id}/delete`, name: "Remove", kind: "danger", label: `Remove key ${id}` })}</span></li>`)}</ul>`}
<details id="add-key"${isBack && html` open`}><summary>Add a key</summary><form class="form" method="post" action="${call.base}${at}/add">
${field(call, `${at}/add`, { name: "key", label: "Key", type: "password", required: true, autocomplete: "off", hint: "As the sender has it: 20 to 64 letters, digits and dashes." })}
<p class="form-foot"><button class="button second">Add</button></p></form></details>`;
}

type SourceRow = ReturnType<typeof getSource>;

function found({ tenant, params }: PageCall) {
  const project = getProject(tenant.store, params["project"] ?? "");
  return { project, source: getSource(tenant.store, project, params["source"] ?? "") };
}

const keep = (retainLogs: boolean): Form => ({
  verb: "updateSource",
  act(call) {
    const { project, source } = found(call);
    call.tenant.store.write((tx) => changeSource(tx, project, { name: source.name, retainLogs }));
    const at = pathOf("p", project.name, "sources", source.name);
    return {
      said: retainLogs ? "Its lines are kept from now on." : "Its lines aren't kept any more.",
      undo: { action: `${at}/${retainLogs ? "forget" : "keep"}` },
      to: at,
    };
  },
});

/** One source: what became of its events, its token, and its end. */
export const sourceScreen: Screen = {
  path: "/p/{project}/sources/{source}",
  view(call) {
    const { project, source } = found(call);
    const watches = [`project:${project.name}`, `source:${project.name}/${source.name}`];
    return {
      title: `${project.name} · ${source.name}`,
      heading: html`${source.name} <span class="soft small">${kindTitle(source.kind)}</span>`,
      nav: "projects",
      sections: {
        tabs: () => projectTabs(call, project.name, "sources"),
        "set-up": () => setUpNotice(call),
        heard: heardSection(call, project.name),
        facts: { watches, draw: () => factsList(call, project.name, source) },
        rotate: { watches, draw: () => rotating(call, project.name, source) },
        keys: {
          watches: ["sources", ...watches],
          draw: () => keysSection(call, { project: project.name, source }),
        },
        lines: { watches, draw: () => keeping(call, project.name, source) },
        rename: () => renaming(call, project.name, source),
        end: { watches, draw: () => deleting(call, project.name, source) },
      },
    };
  },
  forms: {
    keep: keep(true),
    forget: keep(false),
    ...keyForms,
    rotate: {
      verb: "rotateSourceToken",
      act(call) {
        mustManage(call.who.role);
        const { project, source } = found(call);
        const { token, short_token: shortToken = "" } = call.tenant.store.write((tx) =>
          rotateToken(tx, project, { tenantId: call.tenant.id, name: source.name }),
        );
        const setUp = setUpOf(source.kind, { base: call.origin, token, shortToken });
        return {
          said: "A new token. The old one no longer works.",
          shown: shownSetUp(source, token, setUp),
        };
      },
    },
    rename: {
      verb: "renameSource",
      act({ tenant, params }, form) {
        const { project = "", source = "" } = params;
        const { name } = check(sourceRename, { name: (form.get("name") ?? "").trim() }, "body");
        tenant.store.write((tx) => callSource(tx, { project, source }, name));
        return { said: `Its name is ${name} now.`, to: pathOf("p", project, "sources", name) };
      },
    },
    delete: {
      verb: "deleteSource",
      act(call) {
        const { project, source } = found(call);
        call.tenant.store.write((tx) => deleteSource(tx, project, source.name));
        return {
          said: `Source ${source.name} is deleted. Its token no longer works.`,
          to: pathOf("p", project.name),
        };
      },
    },
  },
};

function factsList(call: PageCall, project: string, source: SourceRow): Markup {
  const facts = sourceFactsOf(call.tenant, source, isManager(call.who.role));
  const { accepted, unmatched, refused, last_seen, last_refused } = facts;
  const lines = `${pathOf("p", project, "lines")}?source=${encodeURIComponent(source.name)}`;
  const none = html`<span class="soft">none</span>`;
  return html`<dl class="facts">
<div><dt>Last event</dt><dd>${last_seen === null ? html`<span class="soft">none since the start</span>` : ago(call, last_seen)}</dd></div>
<div><dt>Taken since the start</dt><dd>${accepted}</dd></div>
<div><dt>Of those, by no rule</dt><dd>${unmatched === 0 ? none : unmatched}</dd></div>
<div><dt>Refused</dt><dd>${
    Object.keys(refused).length === 0
      ? none
      : Object.entries(refused).map(([code, n]) => html`<span class="wrong">${n} × ${code}</span> `)
  }</dd></div>
<div><dt>Names of alerts</dt><dd>${source.room === "source" ? "its own: no other source ends its alerts" : "shared: other sources of the project can end its alerts by their name, and it theirs"}</dd></div>
<div><dt>Lines</dt><dd>${source.retainLogs ? way(call, lines, "kept") : "not kept"}</dd></div>
</dl>
${
  last_refused !== null &&
  html`<h2>Last refused</h2><p class="wrong">${last_refused.message}</p><p class="soft">${ago(call, last_refused.at)}</p>${
    last_refused.body !== null &&
    last_refused.body !== "" &&
    html`<pre class="code wrap">${last_refused.body}</pre>`
  }`
}`;
}

function rotating(call: PageCall, project: string, source: SourceRow): Markup {
  const { last_seen } = sourceFactsOf(call.tenant, source, false);
  return html`<h2>Token</h2>
<p class="soft">It was shown once. ${
    last_seen === null
      ? "Nobody has sent with it since the start."
      : html`Somebody sent with it ${ago(call, last_seen)}: a new token stops them until they have it.`
  }</p>
${button(call, {
  action: `${atOf(project, source)}/rotate`,
  name: "Rotate the token",
  kind: "second",
  ...(isManager(call.who.role)
    ? {}
    : { why: `Owners and admins rotate tokens. Ask ${managers(call)}.` }),
})}`;
}

function keeping(call: PageCall, project: string, source: SourceRow): Markup {
  const at = atOf(project, source);
  return html`<h2>Lines</h2><p class="soft">${
    source.retainLogs
      ? "What it sends is kept for a while, to look at and to try rules on."
      : "What it sends opens alerts and is kept nowhere else."
  }</p>${
    source.retainLogs
      ? button(call, { action: `${at}/forget`, name: "Keep its lines no more", kind: "second" })
      : button(call, { action: `${at}/keep`, name: "Keep its lines", kind: "second" })
  }`;
}

function renaming(call: PageCall, project: string, source: SourceRow): Markup {
  const action = `${atOf(project, source)}/rename`;
  return html`<details id="rename-source"${call.returned?.action === action && html` open`}><summary>Rename the source</summary>
<form class="form" method="post" action="${call.base}${action}">
${field(call, action, { name: "name", label: "New name", value: source.name, required: true, autocomplete: "off", hint: "Its token still works. Rules, silences and open alerts of the project follow. Flags that name it, like --syslog-sender, don't." })}
<p class="form-foot"><button class="button second">Rename</button></p></form></details>`;
}

function deleting(call: PageCall, project: string, source: SourceRow): Markup {
  const action = `${atOf(project, source)}/delete`;
  const about = new URLSearchParams({ project, source: source.name });
  return html`<p><a class="button second" href="${call.base}/silences/new?${about.toString()}">Silence what comes from it …</a></p><details id="delete"><summary>Delete the source</summary>
<p class="soft">Its token stops working at once; its alerts stay. It can’t be deleted while a rule names it.</p>
${button(call, { action, name: `Delete ${source.name}`, kind: "danger" })}</details>${changesLink(call, "source", source.id)}`;
}

const atOf = (project: string, { name }: SourceRow) => pathOf("p", project, "sources", name);
