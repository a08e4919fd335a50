import { readWaiting } from "../../../core/alerts/waiting.ts";
import { findForLadder } from "../../../core/oncall/schedules.ts";
import { learningWords } from "../../../core/projects/learning-words.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import { bodyOfRule, type StoredRule } from "../../../core/projects/rule.ts";
import { learnedNow } from "../../../core/projects/rule-actions.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { listSources } from "../../../core/projects/sources.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { AdviceProposal } from "../../../records/advice/shape.ts";
import { endingWith } from "../../../records/config-file/ladders-end.ts";
import { type PageCall, pathOf, type Screen, type View } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { filledOf } from "../ui/form.ts";
import { ladderEndWords, minutesWords } from "../ui/ladder-now.ts";
import { counted } from "../ui/pieces.ts";
import { projectTabs } from "../ui/project-tabs.ts";
import { LOOK_DAYS, schedulePage, seatNow, stretchWords } from "../ui/schedule.ts";
import { ago, clockTime, timeOnClock } from "../ui/times.ts";
import { typedIn } from "../ui/trying.ts";
import { newRulePage, remedy, way } from "../ui/way.ts";
import { firstFields } from "./drafts.ts";
import { fieldsOfRule } from "./fields.ts";
import { isRuleGone, ruleGone } from "./gone.ts";
import { previewSection } from "./preview.ts";
import { bodyOfFields } from "./read-fields.ts";
import { readRuleContext } from "./rule-context.ts";
import { ruleForm } from "./rule-form.ts";
import { digestOf, newRuleForms, savedRuleForms } from "./rule-forms.ts";

const USUAL_LEVEL = 400;

/** A rule that isn't there yet. */
export const newRuleScreen: Screen = {
  path: "/p/{project}/new-rule",
  view: (call) => viewOf(call, null),
  forms: newRuleForms,
};

/** One rule: what opens an alert, whom it pages, and what it would have done. */
export const ruleScreen: Screen = {
  path: "/p/{project}/rules/{rule}",
  async view(call) {
    const { project: home = "", rule: name = "" } = call.params;
    const project = getProject(call.tenant.store, home);
    if (!isRuleGone(call, home, name)) {
      const rule = getRule(call.tenant.store, project.id, name);
      return viewOf(call, rule, await advised(call, rule));
    }
    // Where new rules were written before a rule could be called so.
    const query = call.query.toString();
    if (name === "new" && call.returned === null)
      return { elsewhere: `${newRulePage(project.name)}${query === "" ? "" : `?${query}`}` };
    const words = ruleGone(call, home, name);
    // Somebody was at it: what they typed makes it anew.
    if (call.returned !== null || call.shown["draft"] !== undefined) return viewOf(call, null);
    if (call.isOpen) return goneView(words);
    throw new ServiceError("not_found", words);
  },
  forms: savedRuleForms,
};

/** An open page learns of it, and keeps its form: it is saved as a new one then. */
function goneView(words: string): View {
  const notice = html`<p class="notice notice-warn" role="alert">${words} What you typed is still here: <em>Save</em> offers to make it anew.</p>`;
  return {
    title: "Rule",
    nav: "projects",
    sections: { head: () => notice },
  };
}

/** The change that the address asks for by its advice; null where it names none that is given now. */
async function advised(call: PageCall, { name }: StoredRule): Promise<AdviceProposal | null> {
  const id = call.query.get("advice");
  if (id === null) return null;
  const all = await call.tenant.advice.proposals();
  return all.find((one) => one.id === id && one.rule === name && one.change !== null) ?? null;
}

function viewOf(
  call: PageCall,
  saved: StoredRule | null,
  advice: AdviceProposal | null = null,
): View {
  const { store } = call.tenant;
  const project = getProject(store, call.params["project"] ?? "");
  const action = saved === null ? newRulePage(project.name) : rulePage(project, saved);
  // Of one that is gone the form stood at its old address.
  const own = pathOf("p", project.name, "rules", call.params["rule"] ?? "");
  const forms = [action, own].flatMap((at) => [at, `${at}/try`, `${at}/edit`]);
  const fields = typedIn(call, ...forms) ?? startFields(call, saved, advice);
  const { returned } = call;
  const isOfRule = returned !== null && forms.includes(returned.action);
  const filled = filledOf({ returned: isOfRule ? returned : null }, action, fields);
  const isStale = call.returned?.error.code === "version_conflict";
  const title = saved === null ? "New rule" : `Rule ${saved.name}`;
  const drawForm = async () =>
    ruleForm(call, {
      filled,
      saved: saved?.name ?? null,
      around: await readRuleContext(call, project, levelOf(fields)),
      // After a conflict, saving again takes the place of what is there now.
      read:
        saved === null ? "" : isStale ? digestOf(saved) : (fields.get("read") ?? digestOf(saved)),
      ...keeping(call, project),
    });
  return {
    title,
    heading: html`${title} <span class="soft">· ${project.name}</span>`,
    nav: "projects",
    sections: {
      head: {
        watches: saved === null ? [] : [`rule:${project.name}/${saved.name}`],
        draw: () => head(call, project.name, { saved, advice }),
      },
      ...(saved === null || saved.for_minutes === 0
        ? {}
        : { waiting: { watches: ["waiting"], draw: () => whatWaits(call, saved) } }),
      ...(saved === null
        ? {}
        : {
            gaps: {
              watches: ["oncall", "oncall:*", `rule:${project.name}/${saved.name}`],
              draw: () => ladderGaps(call, project, saved),
            },
          }),
      theirs: () => (isStale && saved !== null ? comparison(call, saved, fields) : html``),
      form: drawForm,
      preview: () => previewSection(call, { action, project: project.name }),
      ...(saved === null ? {} : { away: () => deleting(call, action, saved) }),
    },
    body: (put) => html`${put("head")}${put("waiting")}${put("gaps")}${put("theirs")}
<div class="rule-columns">${put("form")}${put("preview")}</div>
${put("away")}`,
  };
}

function startFields(
  call: PageCall,
  saved: StoredRule | null,
  advice: AdviceProposal | null,
): URLSearchParams {
  if (saved === null)
    return firstFields(call, getProject(call.tenant.store, call.params["project"] ?? ""));
  const rule = { name: saved.name, ...bodyOfRule(saved), ...advice?.change };
  const identifier_keys = [...rule.identifier_keys, ...addedIdentifiers(call, saved)];
  return fieldsOfRule({ ...rule, identifier_keys });
}

/** The keys that the address wants as identifiers, where the rule hasn't got them. */
function addedIdentifiers({ query }: PageCall, { identifier_keys }: StoredRule): string[] {
  return query
    .getAll("identifier")
    .filter((key) => key !== "" && key.length <= 256 && !identifier_keys.includes(key));
}

const rulePage = (project: Project, { name }: StoredRule): string =>
  pathOf("p", project.name, "rules", name);

/** Whether there are lines that a try reads, and where they begin to be kept. */
function keeping(call: PageCall, project: Project): { keepsLines: boolean; keep: Markup | null } {
  const sources = listSources(call.tenant.store, project);
  const [first] = sources;
  const at = first && pathOf("p", project.name, "sources", first.name);
  return {
    keepsLines: sources.some(({ retain_logs }) => retain_logs),
    keep: at === undefined ? null : remedy(call, at, `keep the lines of ${first?.name}`),
  };
}

function levelOf(fields: URLSearchParams): number {
  const level = Number(fields.get("level") ?? "");
  return Number.isSafeInteger(level) && level > 0 ? level : USUAL_LEVEL;
}

function head(
  call: PageCall,
  project: string,
  { saved, advice }: { saved: StoredRule | null; advice: AdviceProposal | null },
): Markup {
  const rules = projectTabs(call, project, "rules");
  if (saved === null)
    return html`${rules}<p class="soft">Nobody is notified until it is saved.</p>`;
  const at = pathOf("p", project, "rules", saved.name);
  const added = call.returned === null ? addedIdentifiers(call, saved) : [];
  const about = `project=${encodeURIComponent(project)}&rule=${encodeURIComponent(saved.name)}`;
  return html`${rules}<p class="soft">Saved ${ago(call, saved.updated_at)} · ${way(call, `/alerts?${about}`, "its open alerts")}</p>
${learningNotice(call, saved)}${advice !== null && html`<p class="notice">${advice.text} It is filled in below, and counts once you save.</p>`}${added.length > 0 && html`<p class="notice">One alert for each <strong>${added.join(", ")}</strong>: it is added below, and counts once you save.</p>`}
<div class="buttons"><a class="button second" href="${call.base}${at}/ladder" data-key="l" aria-keyshortcuts="l" title="Its ladder (l)">Its ladder: who would be woken</a>${
    call.leads(`${at}/drill`) &&
    html`<a class="button second" href="${call.base}${at}/drill">Ring it for real…</a>`
  }<a class="button second" href="${call.base}/silences/new?${about}">Silence …</a><a class="button second" href="${call.base}${newRulePage(project)}?copy=${encodeURIComponent(saved.name)}">Copy</a></div>${changesLink(call, "rule", saved.id)}`;
}

/** Until when the rule opens nothing, because it learns. */
function learningNotice(call: PageCall, saved: StoredRule): Markup[] {
  const learned = learnedNow(
    call.tenant.store,
    { projectId: saved.project_id, now: call.now },
    saved,
  );
  const when = (at: number) => timeOnClock(call, at);
  return learningWords(learned, { now: call.now, when }).map(
    (words) => html`<p class="notice">${words}</p>`,
  );
}

/** What has fired, and isn't there for long enough. */
function whatWaits(call: PageCall, { id, for_minutes }: StoredRule): Markup {
  const { count, waiting } = readWaiting(call.tenant.store, id);
  const [first] = waiting;
  if (first === undefined)
    return html`<p class="soft">Nothing waits: what fires opens an alert if it lasts ${minutesWords(for_minutes)}.</p>`;
  return html`<p class="notice">${counted(count, "thing")} ${count === 1 ? "waits" : "wait"} to open an alert: <strong>${first.title}</strong>${count > 1 && " first"}, at ${clockTime(call, first.opens_at)} if it lasts.</p>`;
}

function deleting(call: PageCall, action: string, saved: StoredRule): Markup {
  const ends = endingWith(call.tenant.store, saved);
  return html`<details id="delete-rule"><summary>Delete this rule</summary>
<p class="soft">Its alerts stay, but nobody is paged for them any more.</p>
<form method="post" action="${call.base}${action}/delete">${ends.map(
    (end) =>
      html`<p class="wrong">${ladderEndWords(end)}</p>
<label class="check" for="delete-ladders"><input type="checkbox" id="delete-ladders" name="ladders" value="true" required> Also end the ladders of open alerts</label>`,
  )}<button class="button danger">Delete ${saved.name}</button></form></details>`;
}

/** Times of the next fortnight at which a schedule of the saved ladder has nobody: said where the rule is read. */
async function ladderGaps(
  call: PageCall,
  project: Project,
  { escalations }: StoredRule,
): Promise<Markup> {
  const names = [...new Set(escalations.flatMap(({ schedules }) => schedules))];
  const items: Markup[] = [];
  for (const name of names) {
    const stored = findForLadder(call.tenant.store, project, name);
    if (stored === null) continue;
    const { gaps } = await seatNow(call, stored);
    const [first] = gaps;
    if (first === undefined) continue;
    items.push(
      html`<li><a href="${call.base}${schedulePage(stored)}">${name}</a>: ${counted(gaps.length, "gap")}, the first ${stretchWords(first, stored.timezone)}</li>`,
    );
  }
  if (items.length === 0) return html``;
  return html`<div class="notice notice-wrong"><p>In the next ${LOOK_DAYS} days this ladder meets nobody on call:</p><ul>${items}</ul></div>`;
}

/** What somebody else saved meanwhile beside what is in the form: only where they differ. */
function comparison(call: PageCall, saved: StoredRule, fields: URLSearchParams): Markup {
  const mine = bodyOfFields(fields);
  const { updated_at } = saved;
  // Steps of a ladder of the tenant stand there.
  const steps = (saved.ladder ?? null) === null ? saved.escalations : [];
  const theirs = { name: saved.name, ...bodyOfRule(saved), escalations: steps };
  const rows = Object.entries(theirs).flatMap(([name, value]) => {
    const [there, here] = [textOf(value), textOf(mine[name])];
    return there === here ? [] : [{ name, there, here }];
  });
  return html`<div class="notice notice-warn"><h2>Changed meanwhile</h2>
<p>Somebody saved this rule ${ago(call, updated_at)}. Nothing of yours is saved yet. <a href="${call.base}${call.at}">Show theirs</a>, or save again to put yours in its place.</p>
<div class="table-wrap"><table class="table stacked"><thead><tr><th scope="col">What</th><th scope="col">Yours</th><th scope="col">Theirs, saved now</th></tr></thead><tbody>${rows.map(
    ({ name, there, here }) =>
      html`<tr><th scope="row">${name.replaceAll("_", " ")}</th><td data-label="Yours"><code>${here}</code></td><td data-label="Theirs"><code>${there}</code></td></tr>`,
  )}</tbody></table></div></div>`;
}

function textOf(value: unknown): string {
  return value === undefined ? "–" : JSON.stringify(value);
}
