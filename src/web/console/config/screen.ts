import { findProject, getProject } from "../../../core/projects/projects.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import type { Applied } from "../../../records/config-file/applied.ts";
import { applyConfig } from "../../../records/config-file/apply.ts";
import { readConfig } from "../../../records/config-file/read.ts";
import { tryConfig } from "../../../records/config-file/try.ts";
import { PING } from "../../http/ping.ts";
import { type Form, type FormDone, type PageCall, pathOf, type Screen } from "../screen.ts";
import { projectText, readProjectText } from "../ui/config-text.ts";
import { ladderEndWords } from "../ui/ladder-now.ts";
import { managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { textDigest } from "../ui/plain.ts";
import { projectTabs } from "../ui/project-tabs.ts";

/** What a text would change, as it is shown until it is applied. */
interface ShownPlan {
  /** Of the project when it was planned: applying it to any other is refused. */
  version: number;
  changes: Applied["changes"];
  ladders_end: Applied["ladders_end"];
  /** Lines that differ, `-`, `+` and ` `. */
  diff: string[];
  /** Of the text, so that just this one is applied. */
  digest: string;
}

/** What applying made, and is shown this once. */
interface MadeByText {
  what: string;
  secret: string;
}

/** Browsers send lines with CRLF. */
const textIn = (form: URLSearchParams): string => (form.get("text") ?? "").replaceAll("\r\n", "\n");

async function wanted({ tenant, params, who }: PageCall, text: string) {
  const { project: name = "" } = params;
  const { config, placed } = await readProjectText(text, name);
  const options = { name, config, tenantId: tenant.id, guard: tenant, by: who.accountId };
  /** Faults that the box finds stand at their lines. */
  const run = <T>(what: () => T): T => {
    try {
      return what();
    } catch (error) {
      throw error instanceof ServiceError ? placed(error) : error;
    }
  };
  return { options, run };
}

async function plan(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  mustManage(call.who.role);
  const { tenant } = call;
  const text = textIn(form);
  const { options, run } = await wanted(call, text);
  const project = findProject(tenant.store, options.name);
  if (project === null) throw new ServiceError("not_found", "There is no such project.");
  const { version } = project;
  const before = readConfig(tenant.store, project, tenant.channels);
  const tried = run(() => tryConfig(tenant.store, { ...options, version }));
  const { projectDiff } = await import("../../../records/config-file/document.ts");
  const shown: ShownPlan = {
    version,
    changes: tried.changes,
    digest: textDigest(text),
    ladders_end: tried.ladders_end,
    diff: projectDiff(options.name, before, tried.config),
  };
  return { said: "", shown: { plan: JSON.stringify(shown), text } };
}

async function apply(call: PageCall, form: URLSearchParams): Promise<FormDone> {
  mustManage(call.who.role);
  const { tenant, params } = call;
  const text = textIn(form);
  if (form.get("digest") !== textDigest(text))
    throw new ServiceError(
      "version_conflict",
      "The text isn't the one that was planned: plan it again.",
    );
  const { options, run } = await wanted(call, text);
  const version = Number(form.get("version"));
  if (!form.has("delete") || !form.has("ladders")) {
    const { changes, ladders_end } = run(() => tryConfig(tenant.store, { ...options, version }));
    const gone = changes.filter(({ change }) => change === "delete");
    if (gone.length > 0 && !form.has("delete")) return asksToDelete(await plan(call, form), gone);
    if (ladders_end.length > 0 && !form.has("ladders"))
      return { ...(await plan(call, form)), said: ENDS_LADDERS };
  }
  const done = run(() => tenant.store.write((tx) => applyConfig(tx, { ...options, version })));
  const made = madeBy(done, tenant.publicUrl || call.origin);
  const at = pathOf("p", params["project"] ?? "", "config");
  return {
    said: `Applied: ${counted(done.changes.length, "change")}.`,
    ...(made.length > 0 ? { shown: { made: JSON.stringify(made) } } : { to: at }),
  };
}

const ENDS_LADDERS =
  "Nothing is applied yet: nobody further would be paged of alerts that are open. Tick that it may, and apply it again.";

/** What goes is lost: it is said once more, and the plan stays. */
function asksToDelete(planned: FormDone, gone: Applied["changes"]): FormDone {
  const names = gone.map(({ kind, name }) => `${kind} ${name}`).join(", ");
  return {
    ...planned,
    said: `Nothing is applied yet: it would delete ${names}. Tick that it may, and apply it again.`,
  };
}

function madeBy({ tokens, secrets, heartbeats }: Applied, base: string): MadeByText[] {
  return [
    ...tokens.map(({ name, token }) => ({ what: `source ${name}`, secret: token })),
    ...heartbeats.map(({ name, secret }) => ({
      what: `heartbeat ${name}`,
      secret: `${base}${PING}/${secret}`,
    })),
    ...secrets.map(({ name, url, secret }) => ({ what: `webhook ${name || url}`, secret })),
  ];
}

const configForms: Readonly<Record<string, Form>> = {
  "": { verb: "putProjectConfig", act: apply },
  plan: { verb: "putProjectConfig", reads: true, act: plan },
};

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
