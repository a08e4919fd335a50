import { findForLadder } from "../../../core/oncall/schedules.ts";
import type { Project } from "../../../core/projects/projects.ts";
import { bodyOfRule, type LadderPart, type StoredRule } from "../../../core/projects/rule.ts";
import { html, type Markup, type Piece } from "../../../ground/kit/html.ts";
import { dated, knownZone, wallTime } from "../../../ground/kit/wall-time.ts";
import { listAccounts } from "../../../people/accounts.ts";
import type { PageCall } from "../screen.ts";

/** A rule whose alert is thought of, and on which page. */
export interface TriedRule {
  /** Below the base. */
  path: string;
  project: Project;
  /** With the ladder that is looked at, which may not be saved. */
  rule: StoredRule;
  /** How the address says which rule; null: the page is one rule's. */
  as: string | null;
  /** A ladder that isn't saved: what is asked of it goes with the form, so that nothing typed is lost. */
  isDraft: boolean;
}

/** What is asked: all of it stands in the address, and means the same to whoever opens it. */
export interface LadderQuestion extends TriedRule {
  /** On whose clocks times are written: those of the ladder's first schedule, else those that the address names, else the reader's. */
  zone: string;
  /** Unix seconds. */
  at: number;
  /** null: as the rule has it. */
  level: number | null;
  /** Accounts that answer nothing. */
  silent: readonly string[];
  /** Whether the next fortnight is looked at, hour by hour. */
  isSwept: boolean;
}

/** The form of the ladder: what is asked of a draft goes with it. */
export const LADDER_FORM = "ladder-form";
const ASKED = ["rule", "at", "zone", "level", "silent"] as const;
/** A button's own question, which counts more than the fields beside it. */
const ASK = "ask";

/** What the address asks; of what was typed, what its form asks. */
export function askedParams(query: URLSearchParams, typed: URLSearchParams | null) {
  const asked = new URLSearchParams(query);
  for (const name of ASKED) if (typed?.has(name)) asked.set(name, typed.get(name) ?? "");
  for (const [name, value] of new URLSearchParams(typed?.get(ASK) ?? "")) asked.set(name, value);
  return asked;
}

export function questionIn(
  { now, look, tenant: { store } }: PageCall,
  tried: TriedRule,
  asked: URLSearchParams,
): LadderQuestion {
  const { project, rule } = tried;
  const members = new Set(listAccounts(store).map(({ id }) => id));
  const named = rule.escalations.flatMap(({ schedules }) => schedules);
  const first = named[0] === undefined ? null : findForLadder(store, project, named[0]);
  const given = knownZone(asked.get("zone") ?? "");
  const zone = first?.timezone ?? given ?? look.zone;
  const at = dated(asked.get("at") ?? "", given ?? zone);
  const level = /^\d{1,6}$/.test(asked.get("level") ?? "") ? Number(asked.get("level")) : null;
  const silent = [...new Set((asked.get("silent") ?? "").split(","))];
  return {
    ...tried,
    zone,
    level,
    at: at ?? now,
    silent: silent.filter((account) => members.has(account)).slice(0, 100),
    isSwept: asked.get("sweep") === "14",
  };
}

/** As the simulation takes it: a stored rule by its name. */
export function ruleAsked({ rule, isDraft }: TriedRule) {
  if (rule.id !== 0 && !isDraft) return rule.name;
  const { ladder = null, escalations, passes, pass_after_minutes } = rule satisfies LadderPart;
  const body = { ...bodyOfRule(rule), name: rule.name };
  return isDraft || ladder === null
    ? { ...body, ladder: null, escalations, passes, pass_after_minutes }
    : { ...body, ladder, escalations: [] };
}

type Change = Partial<Pick<LadderQuestion, "at" | "silent" | "isSwept">>;

function paramsOf(question: LadderQuestion, change: Change): URLSearchParams {
  const { as, level, zone, at, silent, isSwept } = { ...question, ...change };
  return new URLSearchParams({
    ...(as === null ? {} : { rule: as }),
    at: atText(at, zone),
    zone,
    ...(level === null ? {} : { level: String(level) }),
    ...(silent.length === 0 ? {} : { silent: silent.join(",") }),
    ...(isSwept ? { sweep: "14" } : {}),
  });
}

/** The address of a question, with something of it changed; below the base. */
export function questionAddress(question: LadderQuestion, change: Change = {}): string {
  return `${question.path}?${paramsOf(question, change)}`;
}

/** What asks the same with something changed: a link, or of a draft a button of its form. `kind`: the classes. */
export function askLink(
  { base }: Pick<PageCall, "base">,
  question: LadderQuestion,
  of: {
    change: Change;
    kind?: string;
    words: Piece;
    isChosen?: boolean;
    key?: string | undefined;
  },
): Markup {
  const { change, kind = "", words, isChosen = false, key } = of;
  const { isDraft, path } = question;
  const own = html`${kind !== "" && html` class="${kind}"`}${isChosen && html` aria-current="true"`}${
    key !== undefined && html` data-key="${key}" aria-keyshortcuts="${key}"`
  }`;
  if (!isDraft)
    return html`<a href="${base}${questionAddress(question, change)}"${own}>${words}</a>`;
  const params = paramsOf(question, change);
  const asked = new URLSearchParams(
    ["at", "zone", "silent"].map((name) => [name, params.get(name) ?? ""]),
  );
  return html`<button form="${LADDER_FORM}" formaction="${base}${path}/edit" formnovalidate name="${ASK}" value="${asked.toString()}"${own}>${words}</button>`;
}

/** `2026-11-22T03:00` */
export function atText(at: number, zone: string): string {
  return wallTime(at, zone).replace(" ", "T");
}
