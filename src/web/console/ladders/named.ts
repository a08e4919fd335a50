import { climbingAlerts } from "../../../core/alerts/ladders.ts";
import {
  type LadderInput,
  ladderCreate,
  ladderPartOf,
  type StoredLadder,
} from "../../../core/projects/ladder.ts";
import {
  checkLadder,
  defaultsOf,
  getLadder,
  rulesOfLadders,
} from "../../../core/projects/ladders.ts";
import { findProject, listProjects } from "../../../core/projects/projects.ts";
import { ruleCreate } from "../../../core/projects/rule.ts";
import { findRuleNamed } from "../../../core/projects/rules.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import type { Reader } from "../../../ground/store/store.ts";
import { isManager } from "../../../people/roles.ts";
import { type PageCall, pathOf, type Screen } from "../screen.ts";
import { changesLink } from "../ui/audit-address.ts";
import { ladderNow } from "../ui/ladder-now.ts";
import { managers } from "../ui/people-names.ts";
import { counted } from "../ui/pieces.ts";
import { changeWords, ladderForms, newLadderForms, previewed } from "./change.ts";
import { fieldsOfLadder, ladderDigest, ladderOfFields } from "./fields.ts";
import type { TriedRule } from "./question.ts";
import { type LadderHome, ladderView } from "./view.ts";

/** Beside all ladders: one may have any name. */
export const NEW_LADDER = "/new-ladder";

/** One ladder: its rungs, who would be woken, and what a change would do. */
export const ladderScreen: Screen = {
  path: "/ladders/{ladder}",
  view: (call) =>
    ladderView(call, homeOf(call, getLadder(call.tenant.store, call.params["ladder"] ?? ""))),
  forms: ladderForms,
};

/** One that isn't there yet. */
export const newLadderScreen: Screen = {
  path: NEW_LADDER,
  view: (call) => ladderView(call, homeOf(call, null)),
  forms: newLadderForms,
};

const MOST_RULES = 200;
const EMPTY = ladderCreate.parse({ name: "new ladder" });

/** A new one begins with whoever makes it: a ladder of nobody wakes nobody. */
const begun = ({ who }: PageCall): LadderInput => ({
  ...EMPTY,
  steps: [{ accounts: [who.accountId], schedules: [], after_minutes: 0, repeat_minutes: 5 }],
});

function homeOf(call: PageCall, saved: StoredLadder | null): LadderHome {
  const { store } = call.tenant;
  const path = saved === null ? NEW_LADDER : pathOf("ladders", saved.name);
  const ladder = saved ?? begun(call);
  const rules = saved === null ? [] : (rulesOfLadders(store).get(saved.id) ?? []);
  const all = `${call.base}/ladders`;
  const places = placesOf(store, rules);
  return {
    title: saved === null ? "New ladder" : `Ladder ${saved.name}`,
    heading: html`<a href="${all}" data-key="Escape" title="All ladders (Esc)">Ladders</a> › ${saved?.name ?? "new"}`,
    path,
    start: startOf(call, saved),
    edit: {
      at: "/steps",
      read: saved === null ? "" : ladderDigest(saved),
      changes: rules.length === 0 ? "" : `changes ${counted(rules.length, "rule")} at once`,
    },
    locked: isManager(call.who.role)
      ? null
      : html`<p class="soft">Owners and admins change it. Ask ${managers(call)}.</p>`,
    watches: ["ladders", "project:*"],
    choices: places.map(({ as, words }) => ({ value: as, name: words })),
    head: () => (saved === null ? html`` : head(call, saved, rules)),
    steps: (around) =>
      html`${ladderNow(call, { escalations: ladder.steps }, around)}${passesWords(ladder)}`,
    tried(asked, typed) {
      const as = asked.get("rule") ?? "";
      const place = places.find((one) => one.as === as) ?? places[0];
      if (place === undefined) return null;
      const of =
        typed === null
          ? { ...ladder, isDraft: saved === null }
          : { ...ladderOfFields(typed), isDraft: true };
      return triedAs(store, { path, place: place.as, of });
    },
    async would(typed) {
      const to = ladderOfFields(typed);
      if (saved !== null)
        return html`${changeWords(await previewed(call, saved.name, to), "would")}`;
      checkLadder(store, to);
      return html`No rule names it yet.`;
    },
    after: () =>
      saved === null
        ? html``
        : html`${deleting(call, saved, rules)}${changesLink(call, "ladder", saved.id)}`,
  };
}

function startOf(call: PageCall, saved: StoredLadder | null): URLSearchParams {
  if (saved !== null) return fieldsOfLadder(saved);
  const fields = fieldsOfLadder(begun(call));
  fields.set("name", "");
  return fields;
}

interface Place {
  /** `project/rule`, or `project/` for one that isn't stored. */
  as: string;
  words: string;
}

/** As which rules it may be tried: those that name it, else a new one of any project. */
function placesOf(reader: Reader, rules: readonly string[]): Place[] {
  if (rules.length > 0)
    return rules.slice(0, MOST_RULES).map((as) => {
      const [project = "", rule = ""] = as.split("/", 2);
      return { as, words: `${rule} · ${project}` };
    });
  return listProjects(reader, { after: "", limit: MOST_RULES }).projects.map(({ name }) => ({
    as: `${name}/`,
    words: `a rule of ${name}`,
  }));
}

function triedAs(
  reader: Reader,
  { path, place, of }: { path: string; place: string; of: LadderInput & { isDraft: boolean } },
): TriedRule | null {
  const [home = "", name = ""] = place.split("/", 2);
  const project = findProject(reader, home);
  if (project === null) return null;
  const stored = name === "" ? null : findRuleNamed(reader, project.id, name);
  const at = { id: 0, project_id: project.id, created_at: 0, updated_at: 0 };
  const rule = stored ?? { ...ruleCreate.parse({ name: of.name }), ...at };
  return { path, project, as: place, isDraft: of.isDraft, rule: { ...rule, ...ladderPartOf(of) } };
}

/** "One ladder, used by 3 rules: …" */
function head(call: PageCall, { id, team }: StoredLadder, rules: readonly string[]): Markup {
  const { store } = call.tenant;
  const climbing = climbingAlerts(store).get(id) ?? 0;
  const defaults = defaultsOf(store).get(id) ?? [];
  const used =
    rules.length === 0
      ? html`No rule names it yet.`
      : html`One ladder, used by ${counted(rules.length, "rule")}: ${rulesLinks(call, rules)}.`;
  return html`<p class="soft">${used}${climbing > 0 && html` <span class="state state-open">${counted(climbing, "open alert")}</span> on it now.`}${
    defaults.length > 0 &&
    html` Rules that the box makes use it in ${links(
      call,
      defaults.map((project) => ({ at: pathOf("p", project), words: project })),
    )}.`
  }${team !== "" && ` It belongs to ${team}.`}</p>`;
}

export function rulesLinks(call: Pick<PageCall, "base">, rules: readonly string[]): Piece {
  return links(
    call,
    rules.map((one) => {
      const [project = "", rule = ""] = one.split("/", 2);
      return { at: pathOf("p", project, "rules", rule), words: `${rule} in ${project}` };
    }),
  );
}

const MOST_LINKS = 20;

function links({ base }: Pick<PageCall, "base">, all: readonly { at: string; words: string }[]) {
  const more = all.length - MOST_LINKS;
  return html`${all.slice(0, MOST_LINKS).map(({ at, words }, i) => html`${i > 0 && ", "}<a href="${base}${at}">${words}</a>`)}${more > 0 && ` and ${more} more`}`;
}

/** "Twice, 30 min apart; then the fallback is paged." */
export function passesWords({ passes, pass_after_minutes: pause }: LadderInput): Piece {
  return (
    passes > 1 &&
    html`<p class="soft">It runs ${passes} times, ${pause} min apart; after the last time the fallback is paged.</p>`
  );
}

function deleting(call: PageCall, { name }: StoredLadder, rules: readonly string[]): Markup {
  if (!isManager(call.who.role)) return html``;
  if (rules.length > 0)
    return html`<p class="soft small">It can be deleted when no rule uses it.</p>`;
  return html`<details id="delete-ladder"><summary>Delete this ladder</summary><p class="soft">No rule names it.</p>
<form method="post" action="${call.base}${pathOf("ladders", name)}/delete"><button class="button danger">Delete ${name}</button></form></details>`;
}
