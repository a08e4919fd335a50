import { createRule } from "../../core/alerts/rules.ts";
import { ladderInPassing } from "../../core/projects/ladders.ts";
import type { Project } from "../../core/projects/projects.ts";
import { type EscalationStep, ruleCreate, type StoredRule } from "../../core/projects/rule.ts";
import { listRules, rulesWithSchedule } from "../../core/projects/rules.ts";
import { type SharedSchedule, sharedSchedules } from "../../core/projects/schedule-names.ts";
import { createSource, HEARTBEATS, listSources } from "../../core/projects/sources.ts";
import { invalid, ServiceError } from "../../ground/kit/errors.ts";
import { levelName } from "../../ground/kit/level.ts";
import type { Reader, Tx } from "../../ground/store/store.ts";
import { listAccounts } from "../../people/accounts.ts";
import type { SetUp } from "../adapters/adapter.ts";
import { findAdapter, sourceKinds, usualNameScope } from "../adapters/list.ts";
import { apartSentence, usualIdentifiers } from "./apart.ts";
import type { ConnectionAnswer } from "./connection.ts";
import { snippetsOf } from "./snippets.ts";

const WARNING = 300;
/** The lowest level of the rule, unless the kind of sender has another. */
const LEVEL = 400;

interface Wanted {
  tenantId: string;
  /** The box's address for senders, without a slash at its end. */
  base: string;
  kind: string;
  name?: string | undefined;
  level?: number | undefined;
}

/** Creates the source, and a rule if none could match its events. Throws 400, 409, 422. */
export function connect(tx: Tx, project: Project, wanted: Wanted): ConnectionAnswer {
  const { kind, tenantId, base } = wanted;
  const room = usualNameScope(kind);
  if (room === null)
    throw invalid([{ field: "/kind", reason: `must be one of ${sourceKinds.join(", ")}` }]);
  const sources = listSources(tx, project);
  if (kind === HEARTBEATS) mustBeFirst(sources);
  const name = wanted.name ?? freeName(kind, sources);
  const made = createSource(tx, project, { tenantId, name, retainLogs: false, kind, room });
  const present = listRules(tx, project.id);
  const rules = present.filter((rule) => mayTake(rule, { name, kind })).map((rule) => rule.name);
  const made_rule =
    rules.length > 0
      ? null
      : makeRule(tx, project, { name, kind, present, level: wanted.level ?? usualLevel(kind) });
  const at = { base, token: made.token, shortToken: made.short_token ?? "" };
  const { where, paste, notes } = setUpOf(kind, at);
  const taking = listRules(tx, project.id).filter((rule) => mayTake(rule, { name, kind }));
  return {
    ...made,
    kind,
    rules: made_rule === null ? rules : [made_rule],
    made_rule,
    set_up: {
      where,
      paste,
      notes: [apartSentence(kind, taking), ...unheardNote(taking), ...notes],
    },
  };
}

/** Events of a lower level open no alert, and their sender gets a success. */
function unheardNote(rules: readonly StoredRule[]): string[] {
  const lowest = Math.min(...rules.map(({ match }) => match.min_level ?? 0));
  if (lowest <= WARNING) return [];
  return [
    `The rules match level ${levelName(lowest)} and above: a warning (severity: warning) opens no alert. A rule whose min_level is ${WARNING} matches it: box connect makes one with --level warn, or change match.min_level of ${rules.map(({ name }) => name).join(", ")}.`,
  ];
}

const usualLevel = (kind: string) => findAdapter(kind)?.usualLevel ?? LEVEL;

/** All heartbeats of a project use one source: no event would come from a second one. */
function mustBeFirst(sources: readonly { name: string; kind: string }[]): void {
  const present = sources.find(({ kind }) => kind === HEARTBEATS);
  if (present === undefined) return;
  throw new ServiceError(
    "name_taken",
    `The project's heartbeats have a source already, ${present.name}: add a heartbeat with box heartbeat add, or rotate that source's token.`,
  );
}

/** Whether the rule can match an event of such a source, whatever its text and keys. */
function mayTake({ match }: StoredRule, source: { name: string; kind: string }): boolean {
  const word = source.kind === HEARTBEATS ? "heartbeat" : source.kind;
  if (match.sources.length > 0 && !match.sources.includes(source.name)) return false;
  return match.tags.length === 0 || match.tags.includes(word);
}

function makeRule(
  tx: Tx,
  project: Project,
  how: { name: string; kind: string; present: readonly StoredRule[]; level: number },
): string {
  const name = freeName(how.name, how.present);
  const match = { sources: [how.name], min_level: how.level };
  const climbs = ladderInPassing(tx, project, { steps: () => usualLadder(tx, how.present) });
  const identifier_keys = usualIdentifiers(how.kind);
  const made = { name, match, identifier_keys, ...climbs };
  const { name: _, ...body } = ruleCreate.parse(made);
  return createRule(tx, project, { name, body }).name;
}

function freeName(wanted: string, taken: readonly { name: string }[]): string {
  const names = new Set(taken.map(({ name }) => name));
  let name = wanted;
  for (let n = 2; names.has(name); n++) name = `${wanted} ${n}`;
  return name;
}

/** The box's address for a sender, and its token. */
interface SenderAt {
  base: string;
  token: string;
  shortToken: string;
}

/** How a person connects a sender of this kind. */
export function setUpOf(kind: string, at: SenderAt): SetUp {
  const adapter = findAdapter(kind);
  if (adapter !== null) return adapter.setUp(at);
  return kind === HEARTBEATS ? pings(at) : ownFormat(at);
}

function pings({ base, shortToken }: SenderAt): SetUp {
  return {
    where: "the end of each job, with a name of its own in place of NAME",
    paste: `curl -fsS -m 10 --retry 5 --retry-connrefused -o /dev/null "${base}/ping/${shortToken}/NAME/$??create=1"`,
    notes: [
      "The first call makes the heartbeat, which is then expected each day, with an hour of grace: change that with box heartbeat set.",
      "A failure opens an alert at once. A missing run opens one only after the first run.",
    ],
  };
}

function ownFormat(at: SenderAt): SetUp {
  const [curl] = snippetsOf(at);
  return {
    where: "any program that can send a request",
    paste: curl?.text ?? "",
    notes: ["202 means that the event is on the disk. Send it again until you get one."],
  };
}

/**
 * A ladder for a rule that is created along the way: the project's usual one, else the team's, else the first owner.
 */
function usualLadder(reader: Reader, rules: readonly StoredRule[]): EscalationStep[] {
  const ladders = rules.map(({ escalations }) => escalations);
  const owner = listAccounts(reader).find(({ role }) => role === "owner");
  const last = { accounts: owner === undefined ? [] : [owner.id], schedules: [] };
  return mostOf(ladders) ?? teamLadder(reader) ?? [{ ...last, ...atOnce }];
}

const atOnce = { after_minutes: 0, repeat_minutes: 0 };

/**
 * Of the ladders with a shared schedule, the one that most rules of other projects have; else the only shared schedule.
 * Null where there is none, or several.
 */
function teamLadder(reader: Reader): EscalationStep[] | null {
  const shared = sharedSchedules(reader);
  const names = new Set(shared.map(wholeName));
  const rules = new Map(shared.flatMap((one) => rulesNaming(reader, one)));
  const ladders = [...rules.values()]
    .map((rule) => asOthersNameIt(rule, shared))
    .filter((ladder) => ladder.every((step) => step.schedules.every((name) => names.has(name))));
  const [only, ...others] = names;
  const one = only === undefined || others.length > 0 ? null : [only];
  return mostOf(ladders) ?? (one && [{ accounts: [], schedules: one, ...atOnce }]);
}

const wholeName = ({ home, name }: SharedSchedule) => `${home}/${name}`;

function rulesNaming(reader: Reader, { projectId, home, name }: SharedSchedule) {
  const of = { project: { id: projectId, name: home }, name };
  return rulesWithSchedule(reader, of).map((rule) => [rule.id, rule] as const);
}

/** Writes the project's own shared schedules with their full names, as other projects write them. */
function asOthersNameIt(rule: StoredRule, shared: readonly SharedSchedule[]): EscalationStep[] {
  const own = new Map(
    shared
      .filter(({ projectId }) => projectId === rule.project_id)
      .map((one) => [one.name, wholeName(one)]),
  );
  return rule.escalations.map((step) => ({
    ...step,
    schedules: step.schedules.map((name) => own.get(name) ?? name),
  }));
}

/** The most frequent ladder, the first of equals; null for none. */
function mostOf(ladders: readonly EscalationStep[][]): EscalationStep[] | null {
  const counts = new Map<string, number>();
  for (const ladder of ladders)
    if (ladder.length > 0) {
      const text = JSON.stringify(ladder);
      counts.set(text, (counts.get(text) ?? 0) + 1);
    }
  const [most] = [...counts].sort(([, a], [, b]) => b - a);
  return most === undefined ? null : (JSON.parse(most[0]) as EscalationStep[]);
}
