import { mustBeNoFallback } from "../../core/alerts/fallback.ts";
import { changeLadder } from "../../core/alerts/ladders.ts";
import { createRule, deleteRule, renameRule, replaceRule } from "../../core/alerts/rules.ts";
import { dropChannel } from "../../core/alerts/switch-channel.ts";
import {
  createSchedule,
  deleteSchedule,
  findSchedule,
  replaceSchedule,
} from "../../core/oncall/schedules.ts";
import { deleteAction, listActions } from "../../core/projects/actions.ts";
import type { Guard } from "../../core/projects/integration-input.ts";
import { findLadder, insertLadder } from "../../core/projects/ladders.ts";
import {
  createProject,
  findProject,
  getProject,
  type Project,
  setDefaultLadder,
} from "../../core/projects/projects.ts";
import { findRuleNamed, getRule } from "../../core/projects/rules.ts";
import {
  changeSource,
  createSource,
  deleteSource,
  HEARTBEATS,
  listSources,
} from "../../core/projects/sources.ts";
import { invalid, ServiceError } from "../../ground/kit/errors.ts";
import type { Tx } from "../../ground/store/store.ts";
import { sourceKinds, usualNameScope } from "../../in/adapters/list.ts";
import { mustBeUsable } from "../../in/adapters/mapping/chosen.ts";
import { projectHeartbeats } from "../../in/heartbeats/rows.ts";
import { type Applied, kindOf } from "./applied.ts";
import { applyActions } from "./apply-actions.ts";
import { type MergedImport, mergeImport, type Rename } from "./apply-import.ts";
import { applyIntegrations } from "./apply-integrations.ts";
import { changesBetween, snapshot } from "./changes.ts";
import { applyHeartbeats } from "./heartbeats.ts";
import { linkImported } from "./imported.ts";
import { watchLadders } from "./ladders-end.ts";
import { applyMaintenance } from "./maintenance.ts";
import { applyOverrides } from "./overrides.ts";
import { idsOf, type People, peopleOf } from "./people.ts";
import { at } from "./pointer.ts";
import { ownIntegrations, readConfig } from "./read.ts";
import { renamedRules } from "./renamed.ts";
import type { LadderConfig, ProjectConfig, RuleConfig, ScheduleConfig } from "./shape.ts";

export interface ApplyOptions {
  name: string;
  /** The version that the caller has read; 0 = the caller found no such project. */
  version: number;
  config: ProjectConfig;
  tenantId: string;
  guard: Guard;
  /** The account that applies it. */
  by: string;
}

/**
 * Makes the project equal to `config` in the caller's transaction: completely, or not at all where anything is refused.
 * Parts that are equal already aren't written. Throws 409 version_conflict where the project isn't the version that the
 * caller read, and the errors of the operations on its parts, with pointers into `config`.
 */
export function applyConfig(tx: Tx, options: ApplyOptions): Applied {
  const { guard } = options;
  const project = seenProject(tx, options);
  const endedSince = watchLadders(tx, project);
  const before = snapshot(tx, project, guard.channels);
  const { config, kept, renames, remember } = wantedConfig(tx, project, options);
  const people = peopleOf(tx);
  const tokens = applySources(tx, project, { ...options, config });
  for (const [i, schedule] of config.schedules.entries())
    at(`/config/schedules/${i}`, () =>
      applySchedule(tx, project, { schedule, people, by: options.by }),
    );
  for (const [i, ladder] of (config.ladders ?? []).entries())
    at(`/config/ladders/${i}`, () => applyLadder(tx, ladder, people));
  const { default_ladder: usual } = config;
  if (usual !== undefined) at("/config", () => setDefaultLadder(tx, project.name, usual));
  const secrets = applyIntegrations(tx, project, { wanted: config.integrations, guard });
  applyActions(tx, project, { wanted: config.actions, guard });
  const actions = new Map(listActions(tx, project).map(({ id, name }) => [name, id]));
  for (const [i, rule] of config.rules.entries())
    at(`/config/rules/${i}`, () => applyRule(tx, project, { rule, people, actions }));
  const heartbeats =
    config.heartbeats === undefined
      ? []
      : applyHeartbeats(tx, project, { wanted: config.heartbeats, tenantId: options.tenantId });
  const { maintenance } = config;
  if (maintenance !== undefined)
    applyMaintenance(tx, project, { wanted: maintenance, createdBy: options.by });
  deleteOthers(tx, project, { config, guard, keep: secrets.kept });
  remember();
  return {
    version: getProject(tx, options.name).version,
    changes: changesBetween(before, snapshot(tx, project, guard.channels), renames),
    kept: kept.map((one) => ({ ...one, kind: kindOf(one.kind) })),
    ladders_end: endedSince(),
    tokens,
    secrets: secrets.minted,
    heartbeats,
    config: readConfig(tx, project, guard.channels, {
      overrides: config.schedules.some(({ overrides }) => overrides !== undefined),
    }),
  };
}

/** What the project is to be: what the file says, or for an import what it makes of the project. */
function wantedConfig(
  tx: Tx,
  project: Project,
  { config, guard }: ApplyOptions,
): Omit<MergedImport, "renames"> & { renames: readonly Rename[] } {
  const { imported_from: system, ...wanted } = config;
  if (system !== undefined) return mergeImport(tx, project, { wanted, system, guard });
  if (config.ladders !== undefined)
    throw invalid([
      {
        field: "/config/ladders",
        reason: "can only be in a file of box import (with imported_from)",
      },
    ]);
  const { rules } = readConfig(tx, project, guard.channels);
  const renamed = [...renamedRules(rules, config.rules)];
  const renames = renamed.map(([to, from]) => ({ kind: "rules" as const, from, to }));
  for (const { from, to } of renames) renameRule(tx, project, { from, to });
  return { config, kept: [], renames, remember: () => linkImported(tx, project.id, config) };
}

function seenProject(tx: Tx, { name, version }: ApplyOptions): Project {
  const present = findProject(tx, name)?.version ?? 0;
  if (present !== version)
    throw new ServiceError(
      "version_conflict",
      `The project was changed by somebody else: it has version ${present}, not ${version}.`,
      {
        details: [
          { field: "/version", reason: "is not the project's version now", value: `${present}` },
        ],
      },
    );
  if (version === 0) createProject(tx, name);
  return getProject(tx, name);
}

function applySources(tx: Tx, project: Project, { config, tenantId }: ApplyOptions) {
  const present = new Map(listSources(tx, project).map(({ name, kind }) => [name, kind]));
  const tokens: Applied["tokens"] = [];
  for (const [i, given] of config.sources.entries())
    at(`/config/sources/${i}`, () => {
      const { name, retain_logs: retainLogs, kind, room, options } = given;
      const usual = usualNameScope(kind);
      if (usual === null)
        throw invalid([{ field: "/kind", reason: `must be one of ${sourceKinds.join(", ")}` }]);
      mustBeUsable(kind, options);
      if (present.has(name) && present.get(name) !== kind)
        throw invalid([{ field: "/kind", reason: "can't be changed: make another source" }]);
      const source = { name, retainLogs, room: room ?? usual, options };
      if (present.has(name)) changeSource(tx, project, source);
      else tokens.push(createSource(tx, project, { ...source, tenantId, kind }));
      present.set(name, kind);
    });
  return tokens;
}

function applySchedule(
  tx: Tx,
  project: Project,
  { schedule, people, by }: { schedule: ScheduleConfig; people: People; by: string },
): void {
  const layers = schedule.layers.map((layer, i) => ({
    ...layer,
    participants: idsOf(people, layer.participants, `/layers/${i}/participants`),
  }));
  const { overrides: wanted, imported_from: _from, ...to } = { ...schedule, layers };
  const { name } = schedule;
  const isThere = findSchedule(tx, project, name) !== null;
  const is = isThere ? replaceSchedule(tx, project, { name, to }) : createSchedule(tx, project, to);
  if (wanted !== undefined) applyOverrides(tx, is, { wanted, people, by });
}

function applyLadder(
  tx: Tx,
  { imported_from: _from, ...ladder }: LadderConfig,
  people: People,
): void {
  const steps = ladder.steps.map((step, i) => ({
    ...step,
    accounts: idsOf(people, step.accounts, `/steps/${i}/accounts`),
  }));
  const to = { ...ladder, steps };
  if (findLadder(tx, to.name) === null) insertLadder(tx, to);
  else changeLadder(tx, { name: to.name, to });
}

function applyRule(
  tx: Tx,
  project: Project,
  { rule, people, actions }: { rule: RuleConfig; people: People; actions: Map<string, string> },
): void {
  const { name, imported_from: _from, ...given } = rule;
  const body = {
    ...given,
    // The rule's own check reports an action that doesn't exist.
    actions: given.actions?.map((action) => actions.get(action) ?? action) ?? null,
    escalations: given.escalations.map((step, i) => ({
      ...step,
      accounts: idsOf(people, step.accounts, `/escalations/${i}/accounts`),
    })),
  };
  if (findRuleNamed(tx, project.id, name) !== null) replaceRule(tx, project, { name, body });
  else createRule(tx, project, { name, body });
}

/** Rules first, because they name the others. */
function deleteOthers(
  tx: Tx,
  project: Project,
  { config, guard, keep }: { config: ProjectConfig; guard: Guard; keep: ReadonlySet<string> },
): void {
  const present = readConfig(tx, project, guard.channels);
  const gone = <T extends { name: string }>(there: T[], wanted: { name: string }[]) =>
    there.filter(({ name }) => !wanted.some((one) => one.name === name)).map(({ name }) => name);
  for (const name of gone(present.rules, config.rules))
    deleteRule(tx, project, getRule(tx, project.id, name).name);
  for (const name of gone(present.schedules, config.schedules)) {
    deleteSchedule(tx, project, name);
    mustBeNoFallback(tx, `${project.name}/${name}`);
  }
  for (const { id, name } of listActions(tx, project))
    if (!config.actions.some((one) => one.name === name)) deleteAction(tx, project, id);
  // The first heartbeat makes the source that heartbeats report from.
  const speaks = projectHeartbeats(tx, project.id).length > 0;
  const sources = present.sources.filter(({ kind }) => kind !== HEARTBEATS || !speaks);
  for (const name of gone(sources, config.sources)) deleteSource(tx, project, name);
  for (const { id } of ownIntegrations(tx, project))
    if (!keep.has(id)) dropChannel(tx, project, id);
}
