import { peopleOfLayers } from "../../core/oncall/schedule.ts";
import { findForLadder, listSchedules } from "../../core/oncall/schedules.ts";
import type { Project } from "../../core/projects/projects.ts";
import type { StoredRule } from "../../core/projects/rule.ts";
import { listRules } from "../../core/projects/rules.ts";
import type { Reader } from "../../ground/store/store.ts";
import { subscribes } from "../../out/outbox/enqueue.ts";
import { channels as kinds } from "../../out/services/list.ts";

/** Who can be notified by one project's rules and channels. It changes only with the project's version. */
export type ProjectReach = ReturnType<typeof reachOf>;

/** Where one person is paged. */
export interface PagedAt {
  /** The places that name them, as `rule errors (schedule primary)`. */
  places: readonly string[];
  /** The place with the lowest level that its rule requires. */
  lowest: { level: number; place: string } | null;
  /** A place whose rule matches every level. */
  anyLevel: string | null;
}

/** Places that are named for one person; more are counted. */
const MOST_PLACES = 3;

export function reachOf(reader: Reader, project: Project) {
  const rules = listRules(reader, project.id);
  const elsewhere = foreignNames(rules);
  const named = elsewhere.flatMap((name) => {
    const schedule = findForLadder(reader, project, name);
    return schedule === null ? [] : [{ ...schedule, name }];
  });
  const turns = new Map(
    [...listSchedules(reader, project), ...named].map(({ name, layers }) => [
      name,
      new Set(peopleOfLayers(layers)),
    ]),
  );
  const channels = enabledChannels(reader, project.id);
  const others = channels.filter(({ relay, type }) => relay === 0 && !kinds.find(type)?.pushes);
  const hearing = (event: string) =>
    others.filter(({ filter }) => subscribes(filter, event)).map(inWords);
  const acts = anyAction(reader, project.id);
  return {
    name: project.name,
    version: project.version,
    /** By account id. */
    paged: placesOf(rules, turns),
    /** Rules whose ladder can page nobody, because its schedules have no participants. */
    emptyLadders: rules.filter((rule) => namesNobody(rule, turns)).map(({ name }) => name),
    /** Rules without a ladder. `acts`: they run at least one action. */
    bare: rules
      .filter(({ escalations }) => escalations.length === 0)
      .map(({ name, actions }) => ({ rule: name, acts: acts && actions?.length !== 0 })),
    /** Whether its ladders name schedules of other projects. Then it also depends on those. */
    looksElsewhere: elsewhere.length > 0,
    /** Whether the project's channel for the hosted relay exists and is on. */
    relay: channels.some(({ relay }) => relay !== 0),
    /** Other channels that are on, by name: those that get openings, and those that get escalations. */
    openings: hearing("alert.opened"),
    escalations: hearing("alert.escalated"),
  };
}

function foreignNames(rules: readonly StoredRule[]): string[] {
  const named = rules.flatMap((rule) => rule.escalations.flatMap((step) => step.schedules));
  return [...new Set(named.filter((name) => name.includes("/")))];
}

type Turns = ReadonlyMap<string, ReadonlySet<string>>;

function placesOf(rules: readonly StoredRule[], turns: Turns): Map<string, PagedAt> {
  const places = new Map<string, PagedAt>();
  const add = (account: string, place: string, level: number | null) => {
    const before = places.get(account) ?? { places: [], lowest: null, anyLevel: null };
    places.set(account, withPlace(before, place, level));
  };
  for (const { name, match, escalations } of rules)
    for (const step of escalations) {
      for (const account of step.accounts) add(account, `rule ${name}`, match.min_level);
      for (const schedule of step.schedules)
        for (const account of turns.get(schedule) ?? [])
          add(account, `rule ${name} (schedule ${schedule})`, match.min_level);
    }
  return places;
}

function withPlace(before: PagedAt, place: string, named: number | null): PagedAt {
  const { places, lowest, anyLevel } = before;
  const level = named ?? 0;
  const isNew = !places.includes(place) && places.length <= MOST_PLACES;
  return {
    places: isNew ? [...places, places.length < MOST_PLACES ? place : "more"] : places,
    lowest:
      level > 0 && level < (lowest?.level ?? Number.POSITIVE_INFINITY) ? { level, place } : lowest,
    anyLevel: level === 0 ? (anyLevel ?? place) : anyLevel,
  };
}

function namesNobody({ escalations }: StoredRule, turns: Turns): boolean {
  return (
    escalations.length > 0 &&
    escalations.every(
      ({ accounts, schedules }) =>
        accounts.length === 0 && schedules.every((name) => (turns.get(name)?.size ?? 0) === 0),
    )
  );
}

interface Channel {
  name: string;
  type: string;
  filter: string;
  relay: number;
}

function enabledChannels(reader: Reader, projectId: number): Channel[] {
  return reader
    .sql<{ of: number }, Channel>(
      `SELECT name, type, event_filter AS filter, relay FROM integrations
       WHERE enabled = 1 AND (project_id = :of OR (shared = 1
         AND NOT EXISTS (SELECT 1 FROM json_each(except_projects) WHERE value = :of))) ORDER BY created_at, id`,
    )
    .all({ of: projectId });
}

function inWords({ type, name }: Channel): string {
  return name === "" ? `a ${type}` : `${type} ${name}`;
}

function anyAction(reader: Reader, projectId: number): boolean {
  const found = reader.sql<[project: number]>(
    "SELECT 1 FROM actions WHERE project_id = ? AND enabled = 1 LIMIT 1",
  );
  return found.get(projectId) !== undefined;
}
