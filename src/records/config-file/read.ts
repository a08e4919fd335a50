import { and, eq } from "drizzle-orm";
import type { StoredSchedule } from "../../core/oncall/schedule.ts";
import { listSchedules } from "../../core/oncall/schedules.ts";
import type { Action } from "../../core/projects/action.ts";
import { listActions } from "../../core/projects/actions.ts";
import type { Integration } from "../../core/projects/integration.ts";
import { listIntegrations } from "../../core/projects/integrations.ts";
import { defaultLadderOf, listLadders } from "../../core/projects/ladders.ts";
import { type Project, projectOf } from "../../core/projects/projects.ts";
import { bodyOfRule, type StoredRule } from "../../core/projects/rule.ts";
import { listRules } from "../../core/projects/rules.ts";
import type { SourceAnswer } from "../../core/projects/source.ts";
import { listSources } from "../../core/projects/sources.ts";
import { unixSeconds } from "../../ground/kit/clock.ts";
import { integrations } from "../../ground/store/schema.ts";
import type { Reader } from "../../ground/store/store.ts";
import { usualNameScope } from "../../in/adapters/list.ts";
import type { SubscribedKind } from "../../out/outbox/event.ts";
import { fieldsOf } from "../../out/services/channel.ts";
import type { ChannelList } from "../../out/services/list.ts";
import { readHeartbeats } from "./heartbeats.ts";
import { type ImportedKind, importedLadders, importedParts, readImported } from "./imported.ts";
import { standingMaintenance } from "./maintenance.ts";
import { readOverrides } from "./overrides.ts";
import { type People, peopleOf } from "./people.ts";
import type {
  ActionConfig,
  IntegrationConfig,
  LadderConfig,
  ProjectConfig,
  RuleConfig,
  ScheduleConfig,
  SourceConfig,
} from "./shape.ts";

/**
 * The project as it is, each list sorted by name. It says only whether a credential is stored. `overrides`: includes
 * the overrides of its schedules that aren't over.
 */
export function readConfig(
  reader: Reader,
  project: Project,
  channels: ChannelList,
  { overrides = false }: { overrides?: boolean } = {},
): ProjectConfig {
  const people = peopleOf(reader);
  const actions = listActions(reader, project);
  const names = new Map(actions.map(({ id, name }) => [id, name]));
  const heartbeats = readHeartbeats(reader, project);
  const after = unixSeconds(reader.clock);
  const overridesOf = (schedule: StoredSchedule) => {
    const standing = overrides ? readOverrides(reader, schedule, { people, after }) : [];
    return standing.length === 0 ? {} : { overrides: standing };
  };
  const made = readImported(reader, project.id, { overrides });
  const imported = (kind: ImportedKind) => importsOf(reader, project, kind);
  const [ofSchedule, ofRule] = [imported("schedules"), imported("rules")];
  const maintenance = standingMaintenance(reader, project).map(({ config }) => config);
  // As it is now: the caller may have changed it since it read the project.
  const default_ladder = defaultLadderOf(reader, projectOf(reader, project.id));
  return {
    ...(default_ladder === null ? {} : { default_ladder }),
    sources: listSources(reader, project).map(sourceConfig).map(imported("sources")),
    schedules: listSchedules(reader, project).map((schedule) => ({
      ...ofSchedule(readSchedule(schedule, people)),
      ...overridesOf(schedule),
    })),
    actions: actions.map(readAction),
    integrations: ownIntegrations(reader, project)
      .map((row) => imported("integrations")(readIntegration(row, channels), row.id))
      .sort(byText),
    rules: listRules(reader, project.id).map((rule) => ofRule(readRule(rule, people, names))),
    ...(heartbeats.length === 0 ? {} : { heartbeats: heartbeats.map(imported("heartbeats")) }),
    ...(maintenance.length === 0 ? {} : { maintenance }),
    ...(made.length === 0 ? {} : { imported: made }),
  };
}

/** The tenant's ladders, by name, with from where an import of the project made one. */
export function readLadders(reader: Reader, { id: projectId }: Project): LadderConfig[] {
  const people = peopleOf(reader);
  const own = new Map(importedParts(reader, projectId, "ladders").map((one) => [one.id, one]));
  const any = importedLadders(reader);
  return listLadders(reader).map(({ id, created_at: _made, updated_at: _changed, ...ladder }) => {
    const from = own.get(id)?.imported_from ?? (any.has(id) ? OF_OTHERS : undefined);
    const steps = ladder.steps.map((step) => ({
      ...step,
      accounts: step.accounts.map(people.emailOf),
    }));
    return { ...ladder, steps, ...(from !== undefined && { imported_from: from }) };
  });
}

/** Another project's import made it: it is nobody's to take. */
const OF_OTHERS = "another project";

/** Adds from where an import made a part. `id`: of a channel, because channels may share a name. */
function importsOf(reader: Reader, { id: projectId }: Project, kind: ImportedKind) {
  const parts = importedParts(reader, projectId, kind);
  return <T extends { name: string }>(part: T, id?: unknown): T => {
    const isIt = (one: (typeof parts)[number]) =>
      typeof id === "string" ? one.id === id : one.name === part.name;
    const found = parts.find(isIt);
    return found === undefined ? part : { ...part, imported_from: found.imported_from };
  };
}

/** All channels but the relay's, which the relay's configuration makes (contract §7). */
export function ownIntegrations(reader: Reader, project: Project): Integration[] {
  const managed = reader.orm
    .select({ id: integrations.id })
    .from(integrations)
    .where(and(eq(integrations.projectId, project.id), eq(integrations.relay, true)))
    .all()
    .map(({ id }) => id);
  return listIntegrations(reader, project).filter(({ id }) => !managed.includes(id));
}

function readSchedule(
  { name, timezone, shared, shift_check, hand_over, covers, layers }: ScheduleConfig,
  people: People,
): ScheduleConfig {
  return {
    name,
    timezone,
    shared,
    shift_check,
    hand_over,
    covers,
    layers: layers.map((layer) => ({
      ...layer,
      participants: layer.participants.map((one) => one && people.emailOf(one)),
    })),
  };
}

function readAction(action: Action): ActionConfig {
  const { name, method, url, enabled, events, timeout_seconds } = action;
  return {
    name,
    method,
    url,
    headers: Object.fromEntries(action.header_keys.toSorted().map((key) => [key, "kept" as const])),
    body: action.has_body ? "kept" : null,
    enabled,
    events,
    timeout_seconds,
  };
}

function readIntegration(row: Integration, channels: ChannelList): IntegrationConfig {
  const { name, type, url, enabled, event_filter, storm_threshold } = row;
  const { title_template, body_template, shared, except } = row;
  const kind = channels.find(type);
  const fields = kind === undefined ? [] : fieldsOf(kind).all;
  return {
    name,
    type,
    ...Object.fromEntries(fields.map((field) => [field, field === "url" ? url : "kept"])),
    enabled,
    events: event_filter === "" ? [] : (event_filter.split(",") as SubscribedKind[]),
    title_template,
    body_template,
    shared,
    except: [...except],
    ...(storm_threshold === undefined ? {} : { storm_threshold }),
  };
}

/** A rule that refers to a ladder has no steps beside it. */
function readRule(stored: StoredRule, people: People, names: Map<string, string>): RuleConfig {
  const { ladder, escalations, ...body } = bodyOfRule(stored);
  const rule = {
    name: stored.name,
    ...body,
    actions: body.actions?.map((id) => names.get(id) ?? id) ?? null,
  };
  if ((ladder ?? null) !== null) return { ...rule, escalations: [], ladder };
  const steps = escalations.map((step) => ({
    ...step,
    accounts: step.accounts.map(people.emailOf),
  }));
  return { ...rule, escalations: steps };
}

/** Names may be shared, so the whole value decides: the order is always the same. */
function byText(a: IntegrationConfig, b: IntegrationConfig): number {
  const [left, right] = [a, b].map((one) => JSON.stringify([one.name, one.type, one.url, one]));
  return (left ?? "") < (right ?? "") ? -1 : 1;
}

function sourceConfig({ name, retain_logs, kind, room, options }: SourceAnswer): SourceConfig {
  return { name, retain_logs, kind, options, ...(room === usualNameScope(kind) ? {} : { room }) };
}
