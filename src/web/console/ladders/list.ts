import { setFallback } from "../../../core/alerts/fallback.ts";
import { adoptLadder, ladderCopies } from "../../../core/alerts/ladder-copies.ts";
import { climbingAlerts } from "../../../core/alerts/ladders.ts";
import { onCallNow } from "../../../core/oncall/duty.ts";
import { listAllSchedules } from "../../../core/oncall/schedules.ts";
import {
  type LadderCopies,
  ladderAdopt,
  type StoredLadder,
} from "../../../core/projects/ladder.ts";
import { listLadders, rulesOfLadders } from "../../../core/projects/ladders.ts";
import { getProject, projectOf } from "../../../core/projects/projects.ts";
import { listAllRules } from "../../../core/projects/rules.ts";
import { check } from "../../../ground/kit/check.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { fallbackBody } from "../../../out/contacts/contact.ts";
import { readFallback } from "../../../out/contacts/notify.ts";
import { listAccounts } from "../../../people/accounts.ts";
import { isManager, mustManage } from "../../../people/roles.ts";
import { type Form, type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { facesOf } from "../ui/faces.ts";
import { field, tick } from "../ui/form.ts";
import { icon } from "../ui/icon.ts";
import { type LadderContext, readLadderContext } from "../ui/ladder-context.ts";
import { ladderNow } from "../ui/ladder-now.ts";
import { peopleNames } from "../ui/people-names.ts";
import { counted, empty } from "../ui/pieces.ts";
import { NEW_LADDER, passesWords, rulesLinks } from "./named.ts";

const ACTION = "/ladders/fallback";

/** Sets who is paged when a whole ladder reaches nobody. */
const fallbackForm: Form = {
  verb: "putFallback",
  target: "fallback:fallback",
  act({ tenant, who }, form) {
    mustManage(who.role);
    const asked = { accounts: form.getAll("account"), schedules: form.getAll("schedule") };
    const { accounts, schedules } = check(fallbackBody, asked, "body");
    tenant.store.write((tx) => setFallback(tx, { accounts, schedules }));
    const isUsual = accounts.length + schedules.length === 0;
    return {
      said: isUsual ? "Every owner is the fallback again." : "The fallback is set.",
      to: "/ladders#fallback",
    };
  },
};

/** Who they are now, and for managers the form that sets them. */
function fallbackSection(call: PageCall): Markup {
  const { store } = call.tenant;
  const { accounts, schedules } = readFallback(store);
  const name = peopleNames(store);
  const named = [...accounts.map((id) => name(id)), ...schedules.map((one) => `on call: ${one}`)];
  const now = named.length === 0 ? "every owner" : named.join(", ");
  return html`<h2>If a whole ladder reaches nobody</h2><p>Paged then: <strong>${now}</strong>; also where no page gets through within ten minutes of the last rung.${named.length > 0 && " If nothing reaches any of them, every owner is, too."}</p>${
    isManager(call.who.role) && html`${setForm(call)}${changesLink(call, "fallback", "fallback")}`
  }`;
}

function setForm(call: PageCall): Markup {
  const { store } = call.tenant;
  const fallback = readFallback(store);
  const name = peopleNames(store);
  const box = (kind: "account" | "schedule", value: string, words: string) => {
    const usual = fallback[`${kind}s`].includes(value);
    return tick(call, ACTION, { name: kind, value, usual, words });
  };
  const onCall = (project: string, schedule: string) => {
    const home = { projectId: getProject(store, project).id, name: schedule };
    const now = onCallNow(store, home, call.now).map((id) => name(id));
    return `on call: ${project}/${schedule} (now ${now.join(", ") || "nobody"})`;
  };
  const isBack = call.returned?.action === ACTION;
  return html`<details id="set-fallback"${isBack && html` open`}><summary>Change the fallback</summary><form class="form" method="post" action="${call.base}${ACTION}">
${listAccounts(store).map(({ id }) => box("account", id, name(id)))}
${listAllSchedules(store).map((one) => box("schedule", `${one.project}/${one.name}`, onCall(one.project, one.name)))}
<p class="soft">None ticked: every owner.</p>
<p class="form-foot"><button class="button second">Save the fallback</button></p></form></details>`;
}

const AT = "/ladders";
const USUAL_LEVEL = 400;
const WATCHED = ["ladders", "projects", "project:*", "alerts", "oncall", "oncall:*", "people"];

/** Every ladder: whom each would page now, and which rules and open alerts are on it. */
export const laddersScreen: Screen = {
  path: AT,
  async view(call) {
    const around = readLadderContext(call.tenant.store, {
      faces: await facesOf(call),
      now: call.now,
      level: USUAL_LEVEL,
      project: null,
      isOwn: false,
    });
    return {
      title: "Ladders",
      nav: "projects",
      sections: {
        head: () => head(call),
        ladders: { watches: WATCHED, draw: () => list(call, around) },
        copies: () => copiesList(call, around),
        own: { watches: WATCHED, draw: () => ownLadders(call) },
        fallback: { watches: ["people", "oncall", "oncall:*"], draw: () => fallbackSection(call) },
      },
    };
  },
  forms: {
    fallback: fallbackForm,
    adopt: {
      verb: "adoptLadder",
      act(call, form) {
        mustManage(call.who.role);
        const asked = { name: form.get("name") ?? "", rules: form.getAll("rule") };
        const { name, rules } = check(ladderAdopt, asked, "body");
        call.tenant.store.write((tx) => adoptLadder(tx, { name, rules }));
        return {
          said: `The ladder ${name} is made: ${counted(rules.length, "rule")} named it.`,
          to: pathOf("ladders", name),
        };
      },
    },
  },
};

function head({ base, who }: PageCall): Markup {
  return html`<p class="soft">A ladder says who is paged and when. Many rules can use one ladder, and a change applies to all of them.</p>${
    isManager(who.role) &&
    html`<p class="buttons"><a class="button" href="${base}${NEW_LADDER}" data-key="n" aria-keyshortcuts="n" title="New ladder (n)">New ladder</a></p>`
  }`;
}

function list(call: PageCall, around: LadderContext): Markup {
  const { store } = call.tenant;
  const all = listLadders(store);
  if (all.length === 0)
    return empty("No ladder has a name yet. Every rule has its own rungs, or none.");
  const rules = rulesOfLadders(store);
  const climbing = climbingAlerts(store);
  return html`<ul class="cards rule-cards" data-list>${all.map((ladder) =>
    card(call, ladder, {
      around,
      rules: rules.get(ladder.id) ?? [],
      open: climbing.get(ladder.id) ?? 0,
    }),
  )}</ul>`;
}

function card(
  call: PageCall,
  ladder: StoredLadder,
  { around, rules, open }: { around: LadderContext; rules: readonly string[]; open: number },
): Markup {
  const { base } = call;
  return html`<li class="card" id="ladder-${ladder.id}" data-row><div class="card-head"><h2><a href="${base}${pathOf("ladders", ladder.name)}">${ladder.name}</a></h2>${
    open > 0 && html`<span class="state state-open">${counted(open, "open alert")}</span>`
  }</div>
${ladderNow(call, { escalations: ladder.steps }, around)}${passesWords(ladder)}
<p class="soft small">${rules.length === 0 ? "No rule names it." : html`Used by ${counted(rules.length, "rule")}: ${rulesLinks({ base }, rules)}.`}${ladder.team !== "" && ` It belongs to ${ladder.team}.`}</p></li>
`;
}

const MOST_OFFERS = 20;

/** Rules with equal steps, each with what making them one would do: shown before it is done. */
function copiesList(call: PageCall, around: LadderContext): Markup {
  const all = ladderCopies(call.tenant.store).slice(0, MOST_OFFERS);
  if (all.length === 0) return html``;
  return html`<h2>Rules with equal rungs</h2><p class="soft">Each group could be one ladder with a name. Open alerts and counted events stay as they are.</p>
<ul class="cards bare">${all.map((copies, i) => offer(call, copies, { around, i }))}</ul>`;
}

function offer(
  call: PageCall,
  { steps, rules, not_shared }: LadderCopies,
  { around, i }: { around: LadderContext; i: number },
): Markup {
  return html`<li class="card">${ladderNow(call, { escalations: steps }, around)}
<p class="small">${counted(rules.length, "rule")}: ${rulesLinks(call, rules)}</p>
${not_shared.length > 0 ? toShare(call, not_shared) : isManager(call.who.role) && adoptForm(call, rules, i)}</li>`;
}

function toShare({ base }: PageCall, names: readonly string[]): Markup {
  const link = (name: string) => {
    const [project = "", schedule = ""] = name.split("/", 2);
    return html`<a href="${base}${pathOf("oncall", project, schedule)}">${name}</a>`;
  };
  return html`<p class="warn">Share first: ${names.map((name, i) => html`${i > 0 && ", "}${link(name)}`)}. A ladder with a name can use only shared schedules.</p>`;
}

function adoptForm(call: PageCall, rules: readonly string[], i: number): Markup {
  const action = `${AT}/adopt`;
  const { returned } = call;
  const isBack = returned?.action === action && returned.form.get("rule") === rules[0];
  // Of several such forms each has fields of its own.
  const own = `${action}-${i}`;
  const back = { returned: isBack ? { ...returned, action: own } : null };
  return html`<details id="adopt-${i}"${isBack && html` open`}><summary>Make them one ladder</summary><form class="form" method="post" action="${call.base}${action}">${rules.map(
    (one) => html`<input type="hidden" name="rule" value="${one}">`,
  )}${field(back, own, { name: "name", label: "What it is called", required: true, autocomplete: "off" })}
<p class="form-foot"><button class="button">Make the ladder</button></p></form></details>`;
}

const MOST_OWN = 200;

/** Rules with steps of their own, or none: each has a page to try it on. */
function ownLadders({ tenant: { store }, base }: PageCall): Piece & Markup {
  const own = listAllRules(store).filter(({ ladder }) => (ladder ?? null) === null);
  if (own.length === 0) return html``;
  const rows = own.slice(0, MOST_OWN).map(({ name, project_id, escalations }) => {
    const project = projectOf(store, project_id).name;
    const at = pathOf("p", project, "rules", name, "ladder");
    return html`<li><a href="${base}${at}">${icon("ladder")}<span>${name} <span class="soft small">${project} · ${
      escalations.length === 0 ? "nobody is paged" : counted(escalations.length, "rung")
    }</span></span>${icon("next", "small")}</a></li>`;
  });
  const more = own.length - MOST_OWN;
  return html`<h2>Rungs of a rule’s own</h2><p class="soft">Used by 1 rule each.</p><ul class="list list-card">${rows}</ul>${more > 0 && html`<p class="soft">and ${more} more, each on its rule’s page</p>`}`;
}
