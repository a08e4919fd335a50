import { adoptLadder, ladderCopies } from "../../../core/alerts/ladder-copies.ts";
import { replaceRule } from "../../../core/alerts/rules.ts";
import { countUnresolved } from "../../../core/alerts/too-many.ts";
import { ladderAdopt } from "../../../core/projects/ladder.ts";
import { getProject, type Project } from "../../../core/projects/projects.ts";
import { bodyOfRule, ruleCreate, type StoredRule } from "../../../core/projects/rule.ts";
import { getRule } from "../../../core/projects/rules.ts";
import { check } from "../../../ground/kit/check.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { field } from "../ui/form.ts";
import { ladderNow } from "../ui/ladder-now.ts";
import { managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { putSteps, stepsOfFields } from "../ui/steps-form.ts";
import { editing } from "./change.ts";
import { ladderDigest } from "./fields.ts";
import { type LadderHome, ladderView } from "./view.ts";

/** The steps of a rule's own, on the page of a ladder that one rule uses. */
export const ruleLadderScreen: Screen = {
  path: "/p/{project}/rules/{rule}/ladder",
  view(call) {
    const { project, rule } = ruleHere(call);
    const named = rule.ladder ?? null;
    if (named === null) return ladderView(call, homeOf(call, project, rule));
    const asked = new URLSearchParams(call.query);
    asked.set("rule", `${project.name}/${rule.name}`);
    return { elsewhere: `${pathOf("ladders", named)}?${asked}` };
  },
  forms: {
    edit: editing,
    "": { verb: "replaceRule", act: save },
    adopt: { verb: "adoptLadder", act: adopt } satisfies Form,
  },
};

function ruleHere({ tenant: { store }, params }: PageCall) {
  const project = getProject(store, params["project"] ?? "");
  return { project, rule: getRule(store, project.id, params["rule"] ?? "") };
}

const digestOfSteps = ({ name, escalations: steps }: StoredRule) =>
  ladderDigest({ name, steps, passes: 1, pass_after_minutes: null, team: "" });

/** The rule with the steps that were typed. Throws 400. */
const withSteps = (rule: StoredRule, typed: URLSearchParams) => {
  const { name, ...body } = check(
    ruleCreate,
    { ...bodyOfRule(rule), name: rule.name, escalations: stepsOfFields(typed) },
    "body",
  );
  return { name, body };
};

function homeOf(call: PageCall, project: Project, rule: StoredRule): LadderHome {
  const start = new URLSearchParams();
  putSteps(start, rule.escalations);
  const path = pathOf("p", project.name, "rules", rule.name, "ladder");
  const at = `${call.base}${pathOf("p", project.name, "rules", rule.name)}`;
  const open = countUnresolved(call.tenant.store, rule);
  const follow = `${counted(open, "open alert")} of this rule`;
  return {
    title: `Ladder of ${rule.name}`,
    heading: html`<a href="${call.base}/ladders" data-key="Escape" title="All ladders (Esc)">Ladders</a> › ${rule.name} <span class="soft">· ${project.name}</span>`,
    path,
    start,
    edit: { at: "/escalations", read: digestOfSteps(rule), changes: "changes one rule" },
    locked: null,
    watches: [`rule:${project.name}/${rule.name}`],
    choices: [],
    head: () =>
      html`<p class="soft">The rungs of one rule: <a href="${at}">${rule.name}</a>.${open > 0 && html` <span class="state state-open">${counted(open, "open alert")}</span>`}</p>`,
    steps: (around) => ladderNow(call, rule, around),
    tried(_asked, typed) {
      const body = typed === null ? {} : withSteps(rule, typed).body;
      return { path, project, as: null, isDraft: typed !== null, rule: { ...rule, ...body } };
    },
    would: () =>
      html`${open === 0 ? "No open alert follows it." : `${follow} would follow it.`} What the rule counts begins anew.`,
    after: () => adopting(call, project, rule),
  };
}

function save(call: PageCall, form: URLSearchParams) {
  const { rule } = ruleHere(call);
  const isNew = call.tenant.store.write((tx) => {
    const project = getProject(tx, call.params["project"] ?? "");
    const before = getRule(tx, project.id, rule.name);
    if ((before.ladder ?? null) !== null || digestOfSteps(before) !== form.get("read"))
      throw new ServiceError(
        "version_conflict",
        "Somebody changed this ladder meanwhile. Yours is in the form, theirs above it: save again to put yours in its place.",
      );
    return digestOfSteps(replaceRule(tx, project, withSteps(before, form))) !== form.get("read");
  });
  return { said: isNew ? "Saved. The rule counts anew from now on." : "Nothing was changed." };
}

const MOST_COPIES = 200;

/** Makes a ladder of the steps, for this rule and for those that have the same. */
function adopting(call: PageCall, project: Project, rule: StoredRule): Markup {
  if (rule.escalations.length === 0) return html``;
  const action = pathOf("p", project.name, "rules", rule.name, "ladder", "adopt");
  const own = `${project.name}/${rule.name}`;
  const copies = ladderCopies(call.tenant.store).find(({ rules }) => rules.includes(own));
  const others = (copies?.rules ?? []).filter((one) => one !== own);
  if (!isManager(call.who.role))
    return html`<p class="soft">Owners and admins make it a ladder that other rules can name. Ask ${managers(call)}.</p>`;
  const isBack = call.returned?.action === action;
  return html`<details id="adopt"${isBack && html` open`}><summary>Give it a name, for other rules, too</summary>
<p class="soft">Then other rules can use it, and a change applies to all of them. Open alerts and counted events stay as they are. Its schedules have to be shared.</p>
<form class="form" method="post" action="${call.base}${action}">${field(call, action, { name: "name", label: "What it is called", required: true, autocomplete: "off", hint: "“first line”, “payments at night”." })}
${others.slice(0, MOST_COPIES).map((one, i) => html`<label class="check" for="adopt-${i}"><input type="checkbox" id="adopt-${i}" name="rule" value="${one}" checked> also for ${one}, which has the same rungs</label>`)}
<p class="form-foot"><button class="button">Make the ladder</button></p></form></details>`;
}

function adopt(call: PageCall, form: URLSearchParams) {
  mustManage(call.who.role);
  const { project = "", rule: name = "" } = call.params;
  const rules = [`${project}/${name}`, ...form.getAll("rule")];
  const asked = check(ladderAdopt, { name: form.get("name") ?? "", rules }, "body");
  const ladder = call.tenant.store.write((tx) => adoptLadder(tx, asked));
  return {
    said: `The ladder ${ladder.name} is made: ${counted(rules.length, "rule")} named it.`,
    to: pathOf("ladders", ladder.name),
  };
}
