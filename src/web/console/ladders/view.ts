import { type Simulation, simulateWrite } from "../../../core/alerts/simulate/shape.ts";
import { verdictParts } from "../../../core/alerts/simulate/verdict.ts";
import { simulate } from "../../../core/alerts/simulate.ts";
import { ServiceError } from "../../../ground/kit/errors.ts";
import { html, type Markup } from "../../../ground/kit/html.ts";
import type { NavId, PageCall, View } from "../screen.ts";
import { facesOf } from "../ui/faces.ts";
import { type Filled, field, filledOf, wrongOf } from "../ui/form.ts";
import { type IconName, icon } from "../ui/icon.ts";
import { type LadderContext, readLadderContext } from "../ui/ladder-context.ts";
import { stepsForm } from "../ui/steps-form.ts";
import { span } from "../ui/times.ts";
import { typedIn } from "../ui/trying.ts";
import { askedForm, forReal, type RuleChoices } from "./asked.ts";
import { followLadder, untoldAndShared, whoSleeps } from "./course.ts";
import {
  askedParams,
  LADDER_FORM,
  type LadderQuestion,
  questionIn,
  ruleAsked,
  type TriedRule,
} from "./question.ts";
import { sweepGrid } from "./sweep-grid.ts";

/** A ladder's page, whether the ladder has a name or is a rule's own. */
export interface LadderHome extends Pick<View, "title"> {
  heading: Markup;
  /** Its address, which is its form's, too; below the base. */
  path: string;
  /** What its form begins with. */
  start: URLSearchParams;
  edit: Pick<EditForm, "at" | "changes" | "read">;
  /** Why whoever reads it can't change it; null: they can. */
  locked: Markup | null;
  watches: readonly string[];
  /** Which rules it may be tried as; empty where its page is one rule's. */
  choices: RuleChoices;
  head(): Markup | Promise<Markup>;
  /** Step by step with whom each would page now, where it isn't edited. */
  steps(around: LadderContext): Markup;
  /** The rule that is tried, as the address or the form asks; of what is typed where `typed` is. null: there is none. Throws 400. */
  tried(asked: URLSearchParams, typed: URLSearchParams | null): TriedRule | null;
  /** What saving what is typed would change. Throws ServiceError. */
  would(typed: URLSearchParams): Markup | Promise<Markup>;
  /** What else can be done with it. */
  after(): Markup;
}

const NAV: NavId = "projects";
const USUAL_LEVEL = 400;

export function ladderView(call: PageCall, home: LadderHome): View {
  const typed = home.locked === null ? typedIn(call, home.path, `${home.path}/edit`) : null;
  const asked = askedParams(call.query, typed);
  const level = Number(asked.get("level") ?? "") || USUAL_LEVEL;
  const saved = home.tried(asked, null);
  const question = saved && questionIn(call, saved, asked);
  // A new one has no hours yet: each would be told of whom it begins with, whatever is typed.
  const swept = home.edit.read === "" ? null : question;
  const around = async () =>
    readLadderContext(call.tenant.store, {
      faces: await facesOf(call),
      level,
      now: call.now,
      project: saved?.project ?? null,
      isOwn: home.edit.at === "/escalations",
    });
  const watches = [...home.watches, "oncall", "oncall:*", "people", "silences", "projects"];
  return {
    title: home.title,
    heading: home.heading,
    nav: NAV,
    sections: {
      head: { watches: [...home.watches, "alerts"], draw: () => home.head() },
      rungs: {
        watches: home.locked === null ? [] : watches,
        attributes: html`class="card"`,
        draw: async () => drawRungs(call, home, { typed, around: await around() }),
      },
      asked: () => drawAsked(call, home, { asked, typed, question, around }),
      found: {
        watches,
        draw: () => drawFound(call, home, { asked, typed, question, around }),
      },
      sweep: {
        watches,
        ...(swept !== null && { attributes: html`class="card"` }),
        draw: () => (swept === null ? html`` : sweepGrid(call, swept)),
      },
      real: () => (question === null ? html`` : forReal(call, question)),
      after: () => home.after(),
    },
    body: (put) => html`${put("head")}
<div class="columns">${put("rungs")}<div class="card">${put("asked")}${put("found")}${put("real")}</div></div>
${put("sweep")}${put("after")}`,
  };
}

function drawRungs(
  call: PageCall,
  home: LadderHome,
  { typed, around }: { typed: URLSearchParams | null; around: LadderContext },
): Markup {
  if (home.locked !== null) return html`<h2>Rungs</h2>${home.steps(around)}${home.locked}`;
  const isStale = call.returned?.error.code === "version_conflict";
  // After a conflict, saving again takes the place of what is there now.
  const read = isStale ? home.edit.read : (typed?.get("read") ?? home.edit.read);
  const filled = filledOf(
    typed === null ? { returned: null } : call,
    home.path,
    typed ?? home.start,
  );
  const theirs = html`<div class="notice notice-warn"><p><strong>Changed meanwhile.</strong> Saved now:</p>${home.steps(around)}</div>`;
  return html`${isStale && theirs}${editForm(call, { ...home.edit, filled, around, read })}`;
}

interface Asking {
  asked: URLSearchParams;
  typed: URLSearchParams | null;
  /** Of the ladder as it is saved; null: there is no project to try it in. */
  question: LadderQuestion | null;
  around(): Promise<LadderContext>;
}

/** The question of what is typed; of the saved ladder where nothing is, or nothing that could be saved. */
function questionNow(call: PageCall, home: LadderHome, of: Asking): LadderQuestion | null {
  const { asked, typed, question } = of;
  if (typed === null || question === null) return question;
  try {
    const tried = home.tried(asked, typed);
    return tried && questionIn(call, tried, asked);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return { ...question, isDraft: true };
  }
}

function drawAsked(call: PageCall, home: LadderHome, of: Asking): Markup {
  const question = questionNow(call, home, of);
  if (question === null)
    return html`<h2>Try it</h2><p class="soft">Make a project first: a ladder is tried as a rule of one.</p>`;
  return askedForm(call, question, home.choices);
}

async function drawFound(call: PageCall, home: LadderHome, of: Asking): Promise<Markup> {
  const { typed } = of;
  if (typed === null) return of.question === null ? html`` : simulated(call, of, of.question);
  try {
    const would = await home.would(typed);
    const tried = home.tried(of.asked, typed);
    const found = tried && (await simulated(call, of, questionIn(call, tried, of.asked)));
    return html`<div class="notice" id="would"><p><strong>Not saved yet.</strong> ${would}</p></div>${found}`;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status === 404) throw error;
    return html`<div class="notice notice-warn" id="would"><p><strong>Not yet:</strong> ${error.message}</p>${
      error.details.length > 0 &&
      html`<ul>${error.details.slice(0, 10).map(({ field = "", reason, value }) => html`<li>${field.slice(1)} ${reason.replaceAll("_", " ")}${value !== undefined && `: ${String(value)}`}</li>`)}</ul>`
    }</div>`;
  }
}

async function simulated(call: PageCall, of: Asking, question: LadderQuestion): Promise<Markup> {
  const { store, slices } = call.tenant;
  const { project, rule, at, level, silent } = question;
  const asked = simulateWrite.parse({
    rule: rule.name,
    at,
    silent: [...silent],
    ...(level === null ? {} : { level }),
  });
  const input = { ...asked, rule: ruleAsked(question) };
  const found = await slices.run(simulate(store, { projectId: project.id, input, now: call.now }));
  const around = await of.around();
  return html`${whoSleeps(call, question, found, around)}${verdictNotice(found)}
${followLadder(call, question, found, around)}${untoldAndShared(call, question, found)}`;
}

const LOOK = {
  good: ["notice-good", "good", "proof", "Good"],
  warn: ["notice-warn", "warn", "warn", "Weak"],
  error: ["notice-wrong", "crit", "close", "Bad"],
} as const satisfies Record<string, readonly [string, string, IconName, string]>;

/** What it comes to, before the rungs: who is the first that wakes, and how good that is. */
function verdictNotice({ verdict, rungs, opens_at }: Simulation): Markup {
  const [ground, colour, mark, word] = LOOK[verdict.level];
  const { cause, firsts } = verdictParts(verdict.sentence);
  const awake = rungs
    .flatMap(({ at, people }) => people.map((one) => ({ ...one, at })))
    .find(({ answers }) => answers);
  const wakes =
    awake === undefined
      ? "Nobody wakes"
      : `${awake.name} wakes ${awake.at <= opens_at ? "at once" : `after ${span(awake.at - opens_at)}`}`;
  return html`<div class="notice verdict ${ground}" id="verdict"><span class="${colour}">${icon(mark, "large")}</span><p><strong>${wakes}</strong><br><span class="small">${word}: ${cause} ${firsts}</span></p></div>`;
}

interface EditForm {
  filled: Filled;
  around: LadderContext;
  /** What was read, to see whether somebody else changed it meanwhile. */
  read: string;
  /** Beside Save: what it changes. */
  changes: string;
  /** Where its steps stand in the body; a rule's own steps are all that is edited of it. */
  at: "/steps" | "/escalations";
}

/** The rungs, each with who that is now, and how often the whole ladder runs. What it would do is drawn beside it while one types. */
function editForm(call: PageCall, { filled, around, read, changes, at }: EditForm): Markup {
  const { base } = call;
  const { action } = filled;
  const isNew = read === "";
  return html`<h2>Rungs</h2><form id="${LADDER_FORM}" class="rule-form" method="post" action="${base}${action}" data-preview="asked,found" data-preview-to="${base}${action}/edit">
<input type="hidden" name="read" value="${read}">
${isNew && nameLine(filled)}
${stepsForm(call, filled, { around, at })}
<p class="hint">Minutes count from the opening of the alert: 0 is at once.</p>
${at === "/steps" && ofItsOwn(filled, isNew)}
<p class="form-foot"><button class="button" data-key="Ctrl S" aria-keyshortcuts="Control+S" title="Save (Ctrl S)" data-busy="Saving …">Save</button> <span class="noscript"><button class="button second" formaction="${base}${action}/edit#found" formnovalidate>Try it</button></span> <span class="soft small">${changes}</span></p></form>`;
}

const nameLine = (filled: Filled) =>
  field(filled, filled.action, {
    name: "name",
    label: "Name",
    at: "/name",
    hint: "Rules and people use this name. If you rename it, rules follow.",
  });

/** What a ladder that has a name has besides its rungs. */
function ofItsOwn(filled: Filled, isNew: boolean): Markup {
  const isWrong = ["/name", "/passes", "/pass_after_minutes", "/team"].some(
    (at) => wrongOf(filled, filled.action, at) !== null,
  );
  return html`<details id="of-its-own"${isWrong && html` open`}><summary>${
    isNew ? "If nobody takes it, and whose it is" : "Name, whose it is, and if nobody takes it"
  }</summary>
${!isNew && nameLine(filled)}
${passes(filled)}</details>`;
}

function passes(filled: Filled): Markup {
  return html`<div class="rule-line">${field(filled, filled.action, { name: "passes", label: "The whole ladder runs", at: "/passes", type: "number", unit: "times" })}
${field(filled, filled.action, { name: "pass_after_minutes", label: "again after", at: "/pass_after_minutes", type: "number", unit: "min", hint: "Minutes after its last rung. After the last pass, the fallback is paged that many minutes later, once. Leave empty if the ladder runs once." })}</div>
${field(filled, filled.action, { name: "team", label: "Whose it is", at: "/team", hint: "A team, for example." })}`;
}
