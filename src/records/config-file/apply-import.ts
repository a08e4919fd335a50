import { changeLadder } from "../../core/alerts/ladders.ts";
import { renameRule } from "../../core/alerts/rules.ts";
import { getSchedule, replaceSchedule } from "../../core/oncall/schedules.ts";
import type { Guard } from "../../core/projects/integration-input.ts";
import { changeIntegration } from "../../core/projects/integrations.ts";
import { getLadder } from "../../core/projects/ladders.ts";
import type { Project } from "../../core/projects/projects.ts";
import { renameSource } from "../../core/projects/sources.ts";
import type { Tx } from "../../ground/store/store.ts";
import { changeHeartbeat } from "../../in/heartbeats/heartbeats.ts";
import type { KeptPart } from "./applied.ts";
import { channelOf } from "./apply-integrations.ts";
import { importedParts, markImported, partId } from "./imported.ts";
import { type MaintenanceConfig, standingMaintenance } from "./maintenance.ts";
import {
  type ImportPair,
  importKeys,
  importNames,
  type MergedParts,
  mergedConfig,
  overrideKey,
  pairsOf,
} from "./merge.ts";
import { contentHash, translated } from "./merge-names.ts";
import { readConfig, readLadders } from "./read.ts";
import type { ProjectConfig, ScheduleConfig } from "./shape.ts";

export interface Rename {
  kind: ImportPair["kind"];
  from: string;
  to: string;
  /** Of a heartbeat or a channel. */
  id?: string;
}

/** An import that was put into a project. */
export interface MergedImport {
  /** The whole project as it is to be. */
  config: ProjectConfig;
  kept: KeptPart[];
  renames: Rename[];
  /** Remembers what the import wrote. To be called once the configuration is applied. */
  remember(): void;
}

/**
 * Puts an import into the project as it is: renames what was renamed at its source, and keeps what people made or
 * changed. Throws as renaming does.
 */
export function mergeImport(
  tx: Tx,
  project: Project,
  { wanted, system, guard }: { wanted: ProjectConfig; system: string; guard: Guard },
): MergedImport {
  const read = () => readWith(tx, project, guard);
  const pairs = pairsOf(read(), wanted, (kind) => importedParts(tx, project.id, kind));
  const renames = pairs.flatMap(({ kind, was, name, id }) =>
    was === null || was === name ? [] : [{ kind, from: was, to: name, id: `${id}` }],
  );
  rename(tx, project, { renames, guard });
  const around = { present: read(), home: project.name, system, now: tx.at };
  const merged = mergedConfig(pairs, around);
  const isMine = (from: string | undefined) =>
    wanted.ladders?.some(({ imported_from }) => imported_from === from) === true;
  const mine = ({ ladders = [] }: ProjectConfig) =>
    ladders.filter(({ imported_from }) => isMine(imported_from));
  const windows = maintenanceOf(tx, project, { wanted, pairs });
  return {
    config: { ...merged.config, ladders: mine(merged.config), ...windows.maintenance },
    kept: [...merged.kept, ...windows.kept],
    renames,
    remember: () => remember(tx, project, { merged, pairs, guard }),
  };
}

/** The project with its schedules' overrides and the tenant's ladders. */
const readWith = (tx: Tx, project: Project, guard: Guard): ProjectConfig => ({
  ...readConfig(tx, project, guard.channels, { overrides: true }),
  ladders: readLadders(tx, project),
});

/** Through other names first, because a new name may be the old one of another part. */
function rename(
  tx: Tx,
  project: Project,
  { renames, guard }: { renames: readonly Rename[]; guard: Guard },
): void {
  const isHeld = ({ kind, to }: Rename) =>
    renames.some((other) => other.kind === kind && other.from === to);
  const steps = renames.some(isHeld)
    ? [
        ...renames.map((one, i) => ({ ...one, to: `${i}: ${one.from}` })),
        ...renames.map((one, i) => ({ ...one, from: `${i}: ${one.from}` })),
      ]
    : renames;
  for (const one of steps) renameOne(tx, project, { ...one, guard });
}

function renameOne(
  tx: Tx,
  project: Project,
  { kind, from, to, id = "", guard }: Rename & { guard: Guard },
): void {
  if (kind === "sources") {
    renameSource(tx, project, { from, to });
    return;
  }
  if (kind === "ladders") {
    const { id: _id, created_at: _made, updated_at: _changed, ...body } = getLadder(tx, from);
    changeLadder(tx, { name: from, to: { ...body, name: to } });
    return;
  }
  if (kind === "rules") {
    renameRule(tx, project, { from, to });
    return;
  }
  if (kind === "schedules") {
    const input = { ...getSchedule(tx, project, from), name: to };
    replaceSchedule(tx, project, { name: from, to: input });
    return;
  }
  const named = (one: { name: string; imported_from?: string | undefined }) =>
    one.name === from && one.imported_from !== undefined;
  const { heartbeats, integrations } = readConfig(tx, project, guard.channels);
  if (kind === "heartbeats") {
    const { imported_from: _from, ...there } = heartbeats?.find(named) ?? missing(from);
    changeHeartbeat(tx, project, { id, body: { ...there, name: to } });
    return;
  }
  const there = integrations.find(named) ?? missing(from);
  changeIntegration(tx, project, { id, write: channelOf({ ...there, name: to }, guard), guard });
}

function missing(name: string): never {
  throw new Error(`${name} was here a moment ago`);
}

/** Windows have no ids: one of the same name is the same, unless a person made it. */
function maintenanceOf(
  tx: Tx,
  project: Project,
  { wanted, pairs }: { wanted: ProjectConfig; pairs: readonly ImportPair[] },
): { maintenance: { maintenance?: MaintenanceConfig[] }; kept: KeptPart[] } {
  const standing = standingMaintenance(tx, project);
  const isNamed = (name: string) => wanted.maintenance?.some((one) => one.name === name) === true;
  const owned = standing.filter(({ isOwned }) => isOwned).map(({ config }) => config);
  const made = standing.filter(({ isOwned }) => !isOwned).map(({ config }) => config.name);
  const others = owned.filter(({ name }) => !isNamed(name));
  const mine = (wanted.maintenance ?? []).filter(({ name }) => !made.includes(name));
  const all = [...others, ...translated(mine, importNames(pairs, project.name))];
  const kind = "maintenance";
  return {
    maintenance: all.length === 0 ? {} : { maintenance: all },
    kept: [
      ...others.map(({ name }) => ({ kind, name, why: "vanished" as const })),
      ...made.filter(isNamed).map((name) => ({ kind, name, why: "made_here" as const })),
    ],
  };
}

function remember(
  tx: Tx,
  project: Project,
  { merged, pairs, guard }: { merged: MergedParts; pairs: readonly ImportPair[]; guard: Guard },
): void {
  const present = readWith(tx, project, guard);
  const keys = importKeys(pairs, { present, home: project.name });
  for (const pair of merged.taken) {
    const { kind, name, wanted, was, written, isTaken } = pair;
    const { imported_from } = wanted;
    const part = (present[kind] ?? []).find((one) => one.name === name);
    const id = pair.id ?? partId(tx, project.id, { kind, name });
    if (imported_from === undefined || part === undefined || id === undefined) continue;
    const overrides = ((wanted as ScheduleConfig).overrides ?? []).map(overrideKey);
    const hash = isTaken ? contentHash(kind, part, keys) : (written?.hash ?? "");
    // A person's name for it stays one at the next import.
    const isRenamedHere = written !== null && written.name !== was && was === name;
    const called = isRenamedHere ? written.name : name;
    const as = { name: called, hash, overrides };
    markImported(tx, { projectId: project.id, kind }, { id, imported_from, written: as });
  }
}
