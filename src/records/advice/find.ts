import { listAllSchedules } from "../../core/oncall/schedules.ts";
import { configVersions, findProject, projectNames } from "../../core/projects/projects.ts";
import { listAllRules } from "../../core/projects/rules.ts";
import type { Work } from "../../ground/kit/slices.ts";
import { cut, inOneLine } from "../../ground/kit/text.ts";
import type { Reader } from "../../ground/store/store.ts";
import { longestFixed, type TemplateAnswer } from "../../in/ingest/templates.ts";
import { vanishedIn } from "../../in/ingest/vanished.ts";
import { provedTimes } from "../../out/contacts/confirmed.ts";
import { listAccounts } from "../../people/accounts.ts";
import { daysBefore, startLooking, sumsOf } from "../numbers/numbers.ts";
import { hiddenNow } from "./hidden.ts";
import { historySince } from "./history.ts";
import { ADVICE_DAYS, type AdviceProposal, MOST_ADVICE } from "./shape.ts";
import { situationOf } from "./situations.ts";

/** Templates of a project that no rule takes, the most frequent first. */
type UnheardIn = (project: { id: number; name: string }) => readonly TemplateAnswer[];

const DAY = 86_400;
/** Of what mends no single rule so many stand beside the rest. */
const MOST_BESIDE = 3;
const LOUD_LEVEL = 400;
const LOUD_EVENTS = 5;
const UNPROVED_DAYS = 30;
/** As a step of work: others have their turn before it. */
const WHOLE_SLICE = 20_000;

/** What could be changed now, what spares the most pages first; without what is hidden. */
export function* findAdvice(
  reader: Reader,
  { now, unheardIn }: { now: number; unheardIn: UnheardIn },
): Work<AdviceProposal[]> {
  const hidden = hiddenNow(reader, now);
  const ofRules = (yield* adviceOfRules(reader, now)).filter(({ id }) => !hidden.has(id));
  const loud = yield* unheard(reader, { now, unheardIn });
  const gone = yield* vanished(reader, now);
  const beside = [loud, gone, unproved(reader, now)].flatMap((all) =>
    all.filter(({ id }) => !hidden.has(id)).slice(0, MOST_BESIDE),
  );
  ofRules.sort((a, b) => (b.figures["pages"] ?? 0) - (a.figures["pages"] ?? 0));
  return [...ofRules.slice(0, MOST_ADVICE - beside.length), ...beside];
}

function* adviceOfRules(reader: Reader, now: number): Work<AdviceProposal[]> {
  const from = daysBefore(reader, now + 1, ADVICE_DAYS - 1);
  const history = yield* historySince(reader, from);
  const sums = sumsOf(startLooking(reader, now, { from, to: now + 1, project: null }), "rule");
  // Read now: between two steps of this work they may go.
  const projects = projectNames(reader);
  const pasts = listAllRules(reader).map((rule) => ({
    rule,
    project: projects.get(rule.project_id) ?? "",
    alerts: history.get(rule.id) ?? [],
    pages: sums.get(String(rule.id))?.counts.pages ?? 0,
  }));
  const others = Map.groupBy(pasts, ({ rule }) => rule.project_id);
  const found: AdviceProposal[] = [];
  for (const past of pasts) {
    const { rule, project } = past;
    const one = situationOf(past, others.get(rule.project_id) ?? []);
    yield 50 + past.alerts.length;
    if (one === null) continue;
    const { kind, about, ...rest } = one;
    found.push({
      ...rest,
      id: [kind, rule.id, ...(about === undefined ? [] : [about])].join("-"),
      kind,
      project,
      rule: rule.name,
      account_id: null,
      isTried:
        kind === "nobody_acts" ||
        (kind !== "one_cause" && past.alerts.every(({ isNamed }) => !isNamed)),
    });
  }
  return found;
}

/** What comes at error and above, and no rule takes: the most frequent of each project. */
function* unheard(
  reader: Reader,
  { now, unheardIn }: { now: number; unheardIn: UnheardIn },
): Work<AdviceProposal[]> {
  const found: AdviceProposal[] = [];
  for (const { project: name } of configVersions(reader)) {
    const project = findProject(reader, name);
    // It may have gone between two steps.
    if (project === null) continue;
    // All templates of a project are gone through.
    yield WHOLE_SLICE;
    const loud = unheardIn(project).filter(
      ({ level, count, last_seen }) =>
        (level ?? 0) >= LOUD_LEVEL &&
        count >= LOUD_EVENTS &&
        (last_seen ?? 0) > now - ADVICE_DAYS * DAY,
    );
    const [first] = loud;
    if (first === undefined) continue;
    const { template, template_id, count, level, source } = first;
    const more = loud.length > 1 ? ` There are ${loud.length - 1} more like it.` : "";
    found.push({
      id: `unheard-${project.id}-${template_id}`,
      kind: "unheard",
      project: name,
      rule: null,
      account_id: null,
      isTried: true,
      text: `“${cut(inOneLine(template), 120)}” came ${count} times at error or above, and no rule takes it. Make a rule of it.${more}`,
      figures: { events: count, level: level ?? 0, templates: loud.length },
      change: {
        match: {
          min_level: level,
          sources: source === "" ? [] : [source],
          template_contains: longestFixed(template),
        },
      },
    });
  }
  return found;
}

/** What came all the time and no longer comes, and no rule asks for: the most frequent of each project. */
function* vanished(reader: Reader, now: number): Work<AdviceProposal[]> {
  const found: AdviceProposal[] = [];
  for (const { project: name } of configVersions(reader)) {
    const project = findProject(reader, name);
    if (project === null) continue;
    const search = vanishedIn(reader, project.id, now);
    let step = search.next();
    for (; step.done !== true; step = search.next()) yield WHOLE_SLICE;
    const [first, ...others] = step.value;
    if (first === undefined) continue;
    const { template, template_id, events, silent, longest } = first;
    const hours = (seconds: number) => Math.max(1, Math.round(seconds / 3600));
    const more =
      others.length === 0 ? "" : ` So it is with ${others.length} more: a source may have stopped.`;
    found.push({
      id: `vanished-${project.id}-${template_id}`,
      kind: "vanished",
      project: name,
      rule: null,
      account_id: null,
      isTried: true,
      text: `“${cut(inOneLine(template), 120)}” came ${events} times in two weeks, and nothing of it for ${hours(silent)} h; its longest pause was ${hours(longest)} h. No rule would tell you: make one for what is missing, or press Not this if it was meant.${more}`,
      figures: {
        events,
        silent_hours: hours(silent),
        longest_silence_hours: hours(longest),
        templates: others.length + 1,
      },
      change: { missing: { template_id } },
    });
  }
  return found;
}

/** People of ladders and schedules whom nothing has proved to be reached for a month. Who has no way at all is the doctor's finding. */
function unproved(reader: Reader, now: number): AdviceProposal[] {
  const named = new Set([
    ...listAllRules(reader).flatMap(({ escalations }) =>
      escalations.flatMap(({ accounts }) => accounts),
    ),
    ...listAllSchedules(reader).flatMap(({ layers }) =>
      layers.flatMap(({ participants }) => participants),
    ),
  ]);
  const proved = provedTimes(reader);
  return listAccounts(reader).flatMap(({ id, email, display_name }): AdviceProposal[] => {
    const at = proved.get(id);
    if (!named.has(id) || at === undefined || at > now - UNPROVED_DAYS * DAY) return [];
    const days = at === 0 ? null : Math.floor((now - at) / DAY);
    const name = display_name.trim() === "" ? email : display_name;
    return [
      {
        id: `unproved-${id}`,
        kind: "unproved",
        project: null,
        rule: null,
        account_id: id,
        text: `Nothing has proved ${days === null ? "ever" : `for ${days} days`} that a page reaches ${name}, who is on a ladder. Ask for a test.`,
        figures: days === null ? {} : { days },
        change: null,
        isTried: false,
      },
    ];
  });
}
