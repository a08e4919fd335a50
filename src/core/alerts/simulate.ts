import { ServiceError } from "../../ground/kit/errors.ts";
import type { Work } from "../../ground/kit/slices.ts";
import type { Reader } from "../../ground/store/store.ts";
import { ladderMeant } from "../projects/ladders.ts";
import type { LadderPart, StoredRule } from "../projects/rule.ts";
import { checkRuleReferences, membersAmong, strangers } from "../projects/rule-references.ts";
import { getRule } from "../projects/rules.ts";
import { followAlert } from "./course.ts";
import type { Rung, SimulationQuery, SimulationResult } from "./course-shape.ts";
import { numberInPass, wholeLadder } from "./ladder.ts";
import { type ChannelFact, type ReachEntry, reachReport, whyNotPaged } from "./reach-report.ts";
import type {
  Because,
  SimulateInput,
  Simulation,
  SweepCells,
  SweepInput,
} from "./simulate/shape.ts";
import { isSettled, judgeCourse } from "./simulate/verdict.ts";
import { readWorld, type World } from "./simulate/world.ts";

/** What would ring if a rule fired at a time: nothing is sent, nothing written. */

const HOUR = 3600;
const USUAL_LEVEL = 400;
/** Rungs that one answer holds. */
const MOST_RUNGS = 500;

/**
 * Reads all that it looks at now; the work that it gives back follows the alert. `now` in Unix seconds. Throws 404 for a
 * rule that isn't there, 422 for people and schedules that aren't.
 */
export function simulate(
  reader: Reader,
  of: { projectId: number; input: Of<SimulateInput>; now: number },
): Work<Simulation> {
  const fires = of.input.at ?? of.now;
  const hours = of.input.horizon_hours * HOUR;
  const world = worldOf(reader, of, { from: fires, until: fires + hours });
  const at = fires + waitOf(world);
  return simulated(world, questionOf(of.input, { at, until: at + hours }));
}

/** The same at each hour of some days. */
export function sweep(
  reader: Reader,
  of: { projectId: number; input: Of<SweepInput>; now: number },
): Work<SweepCells> {
  const { days, horizon_hours } = of.input;
  const from = of.input.from ?? of.now;
  const cells = days * 24;
  const last = from + (cells - 1) * HOUR;
  const world = worldOf(reader, of, { from, until: last + horizon_hours * HOUR });
  return swept(
    world,
    Array.from({ length: cells }, (_, cell) => {
      const at = from + cell * HOUR + waitOf(world);
      return questionOf(of.input, { at, until: at + horizon_hours * HOUR });
    }),
  );
}

/** How long what fires waits before it opens, seconds. */
const waitOf = ({ rule }: World): number => rule.for_minutes * 60;

/** What is asked; a rule that isn't stored may have the passes of a ladder that isn't, either. */
type Of<Input extends Pick<SimulateInput, "rule">> = Omit<Input, "rule"> & {
  rule: string | (Exclude<Input["rule"], string> & Partial<LadderPart>);
};

type Asked = Of<Omit<SimulateInput, "at">>;

function worldOf(
  reader: Reader,
  { projectId, input, now }: { projectId: number; input: Asked; now: number },
  range: { from: number; until: number },
): World {
  const { level, identifiers, source } = input;
  const rule = ruleOf(reader, projectId, { rule: input.rule, now });
  mustBeMembers(reader, input);
  const imagined = { rule, level: level ?? rule.match.min_level ?? USUAL_LEVEL };
  const until = range.until + rule.for_minutes * 60;
  return readWorld(reader, { ...imagined, identifiers, source }, { from: range.from, until });
}

function ruleOf(
  reader: Reader,
  projectId: number,
  { rule, now }: { rule: Asked["rule"]; now: number },
): StoredRule {
  if (typeof rule === "string") return getRule(reader, projectId, rule);
  const meant = { ...rule, ...ladderMeant(reader, rule) };
  checkRuleReferences(reader, projectId, meant);
  return { ...meant, id: 0, project_id: projectId, created_at: now, updated_at: now };
}

function mustBeMembers(reader: Reader, { silent, ack }: Asked): void {
  const known = membersAmong(reader, [...silent, ...(ack === null ? [] : [ack.account])]);
  const reason = "not_a_member";
  const details = [
    ...strangers(silent, known, { field: "/silent", reason }),
    ...(ack === null || known.has(ack.account)
      ? []
      : [{ field: "/ack/account", reason, value: ack.account }]),
  ];
  if (details.length > 0)
    throw new ServiceError(reason, "These people have no account here.", { details });
}

function questionOf({ silent, ack }: Asked, range: { at: number; until: number }): SimulationQuery {
  return { ...range, most: MOST_RUNGS, rings: true, silent: new Set(silent), ack };
}

function* swept(world: World, questions: readonly SimulationQuery[]): Work<SweepCells> {
  const cells: SweepCells["cells"] = [];
  for (const question of questions) {
    const course = yield* followAlert(world, question, {
      isEnough: isSettled(world, question),
    });
    const { level, sentence } = judgeCourse(world, course, question);
    cells.push({ at: question.at - waitOf(world), verdict: level, why: sentence });
  }
  return { cells };
}

function* simulated(world: World, question: SimulationQuery): Work<Simulation> {
  const course = yield* followAlert(world, question);
  const because = new Map<string, Because[]>();
  return {
    opens_at: question.at,
    rungs: course.rungs.map((rung) => shownRung(world, rung, { question, because })),
    shared: world.channels.flatMap((channel) => sharedOf(channel, course)),
    held: course.held,
    untold: untoldIn(world, course, question),
    verdict: judgeCourse(world, course, question),
    ends: course.ends,
  };
}

const RINGS = new Set(["confirmed", "unconfirmed", "failing"]);

/** `because`: by what each was paged last, for a rung that only says it again. */
function shownRung(
  world: World,
  rung: Rung,
  { question, because }: { question: SimulationQuery; because: Map<string, Because[]> },
): Simulation["rungs"][number] {
  const { at, step, why, accounts } = rung;
  if (why !== "renotify")
    for (const account of accounts) because.set(account, becauseOf(world, rung, account));
  const people = accounts.map((account) => {
    const channels = [...world.waysTo(account)];
    return {
      account_id: account,
      name: world.nameOf(account) ?? account,
      channels,
      because: because.get(account) ?? [],
      answers: !question.silent.has(account) && channels.some(({ state }) => RINGS.has(state)),
    };
  });
  return { at, step, why, people, nobody: accounts.length === 0 };
}

/** By which steps and schedules a rung pages somebody. */
function becauseOf(world: World, { at, span }: Rung, account: string): Because[] {
  if (span === null) return [{ kind: "named", name: "fallback", layer: null, until: null }];
  const steps = wholeLadder(world.rule).slice(span.first - 1, span.last);
  const named = { kind: "named" as const, layer: null, until: null };
  return steps.flatMap((step, i): Because[] => [
    ...(step.accounts.includes(account)
      ? [{ ...named, name: `rung ${numberInPass(world.rule, span.first + i)}` }]
      : []),
    ...step.schedules.flatMap((name): Because[] => {
      const piece = world.seatOf(name)?.at(at);
      if (piece === undefined || !piece.accounts.includes(account)) return [];
      const { layer, override_id, until } = piece;
      const kind = override_id === null ? "schedule" : "override";
      return [{ kind, name, layer, until: Number.isFinite(until) ? until : null }];
    }),
  ]);
}

/** What a channel hears of the opening and of steps. */
function sharedOf(channel: ChannelFact, { toldAt, rungs }: SimulationResult): Simulation["shared"] {
  const isPaged = rungs.some(({ accounts }) => accounts.length > 0);
  const events = ["alert.opened", ...(isPaged ? ["alert.escalated"] : [])];
  return events.map((event) => {
    const untold = whyNotPaged(channel, event)?.reason ?? null;
    const isHeld = untold === null && event === "alert.opened" && toldAt === null;
    const works = channel.error === null ? "confirmed" : "failing";
    return {
      integration_id: channel.id,
      name: channel.name,
      event,
      state: untold === null && !isHeld ? works : untold === "channel_disabled" ? "off" : "none",
      reason: isHeld ? "silenced" : untold,
    };
  });
}

/** Those of the ladder's people who aren't told, in the words of an alert's own report. */
function untoldIn(world: World, course: SimulationResult, { at }: SimulationQuery): ReachEntry[] {
  const { rule, nameOf } = world;
  const rung = new Set(course.rings.map(({ account }) => account));
  let dueAt = course.timers.ladderFrom;
  const steps = rule.escalations.map((step, i) => {
    dueAt = Math.max(dueAt, course.timers.ladderFrom + step.after_minutes * 60);
    const ran = course.rungs.find(({ span }) => span && span.first <= i + 1 && i + 1 <= span.last);
    const duties = step.schedules.flatMap(
      (name) => world.seatOf(name)?.dutyAt(ran?.at ?? at) ?? [],
    );
    const isAhead = course.ends.how === "horizon";
    return {
      step,
      number: i + 1,
      hasRun: ran !== undefined,
      duties,
      dueAt: ran === undefined && isAhead ? dueAt : null,
    };
  });
  const held = course.ends.how === "horizon" ? course.held.at(-1) : undefined;
  const report = reachReport({
    steps,
    nameOf,
    pages: [],
    phones: [],
    channels: [],
    events: [],
    repeatAt: null,
    paged: course.rungs.flatMap(({ accounts }) => accounts),
    held: held === undefined || held.until <= course.ends.at ? null : held,
    hasPhone: (account) => world.reachable.hasPhone(account, rule.project_id),
  });
  return report.filter(({ account_id }) => account_id === null || !rung.has(account_id));
}
