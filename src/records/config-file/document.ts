import * as z from "zod";
import { check } from "../../ground/kit/check.ts";
import { type ErrorDetail, ServiceError } from "../../ground/kit/errors.ts";
import type { Account } from "../../people/account.ts";
import { compactPeople, type FilePerson } from "./accounts.ts";
import { compactProject } from "./compact.ts";
import { lineDiff } from "./diff.ts";
import { configFile } from "./file.ts";
import type { ImportedConfig } from "./imported.ts";
import { type Lookup, lookUpAll, ReferenceFault } from "./secrets.ts";
import type { LadderConfig, ProjectConfig } from "./shape.ts";
import { compactTenant, type FileTenant, lookUpTenant, type TenantNow } from "./tenant.ts";
import { tenantNouns } from "./tenant-nouns.ts";
import { readYaml, writeYaml, YamlFault } from "./yaml.ts";

/** A project of a file, ready to be sent. */
export interface FileProject {
  name: string;
  config: ProjectConfig;
}

export interface ConfigDocument {
  /** The people who should have an account. */
  people: FilePerson[];
  projects: FileProject[];
  /** The file's settings of the whole box; null: none. */
  tenant: FileTenant | null;
  /** What of them exists when its projects are applied. */
  assumed: Readonly<Record<string, readonly string[] | undefined>>;
  /** "line 12: …" for each fault that the box found in what stands there, as `/tenant/gateways/0`. */
  faultsAt(place: string, details: readonly ErrorDetail[]): string[];
  /** "line 12: …" for each fault that the box found in project `i`. */
  faultsOf(i: number, details: readonly ErrorDetail[]): string[];
}

/** Faults of a file, one a line. */
export class ConfigFileFault extends Error {}

/** Parses a file, checks its shape and reads the credentials that it refers to. Throws ConfigFileFault. */
export function parseConfigFile(text: string, lookup: Lookup): ConfigDocument {
  try {
    const { value, lineOf } = readYaml(text);
    const describe = ({ field = "", reason, value: shown }: ErrorDetail) =>
      `line ${lineOf(field)}: ${field} ${reason}${shown === undefined ? "" : ` (${shown})`}`;
    const file = checked(value, describe);
    const { tenant, ladders } = withImportedLadders(file, describe);
    const placed = (one: ImportedConfig) => {
      const isIt = (ladder: LadderConfig) => ladder.imported_from === one.from;
      const named = one.kind === "ladders" ? file.tenant?.ladders?.find(isIt) : undefined;
      return { ...one, name: named?.name ?? one.name };
    };
    return {
      people: file.people ?? [],
      projects: file.projects.map(({ name, ...config }, i) => ({
        name,
        config: {
          ...lookUpAll(config, lookup),
          ...(ladders[i] && { ladders: ladders[i] }),
          ...(config.imported && { imported: config.imported.map(placed) }),
        },
      })),
      tenant: tenant === undefined ? null : lookUpTenant(tenant, lookup),
      assumed: Object.fromEntries(
        tenantNouns.map(([key]) => [`assume_${key}`, tenant?.[key]?.map(({ name }) => name)]),
      ),
      faultsAt: (place, details) =>
        details.map((detail) => describe({ ...detail, field: `${place}${detail.field ?? ""}` })),
      faultsOf: (i, details) =>
        details.map((detail) =>
          describe({
            ...detail,
            field: (detail.field ?? "").replace(/^\/config/, `/projects/${i}`),
          }),
        ),
    };
  } catch (error) {
    if (error instanceof YamlFault || error instanceof ReferenceFault)
      throw new ConfigFileFault(error.message);
    throw error;
  }
}

function checked(value: unknown, describe: (detail: ErrorDetail) => string) {
  try {
    return check(configFile, value, "body");
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ConfigFileFault(error.details.map(describe).join("\n"));
  }
}

type FileContent = z.output<typeof configFile>;

/**
 * An import's ladders go with its project, so that the box merges them as one. `ladders[i]`: those of project `i`. Throws
 * ConfigFileFault where a file has others beside them: its list would be whole, and an import's isn't.
 */
function withImportedLadders(
  { tenant, projects }: FileContent,
  describe: (detail: ErrorDetail) => string,
): { tenant: FileContent["tenant"]; ladders: LadderConfig[][] } {
  const systems = projects.map((one) => one.imported_from);
  if (tenant?.ladders === undefined || systems.every((one) => one === undefined))
    return { tenant, ladders: [] };
  const { ladders: all, ...rest } = tenant;
  const ladders: LadderConfig[][] = [];
  for (const [i, one] of all.entries()) {
    const at = systems.findIndex((system) => one.imported_from?.startsWith(`${system}:`));
    if (at === -1)
      throw new ConfigFileFault(
        describe({
          field: `/tenant/ladders/${i}`,
          reason: "is no part of the import: apply it with a file of its own",
        }),
      );
    ladders[at] = [...(ladders[at] ?? []), one];
  }
  return { tenant: Object.keys(rest).length === 0 ? undefined : rest, ladders };
}

/** The file's text. The same projects always give the same bytes. */
export const printConfigFile = (...of: Parameters<typeof configValue>): string =>
  writeYaml(configValue(...of));

export function configValue(
  projects: readonly FileProject[],
  now?: TenantNow,
  people?: readonly Account[],
): object {
  const tenant = now === undefined ? undefined : compactTenant(now);
  return {
    format: 1,
    ...(people && { people: compactPeople(people) }),
    ...(tenant === undefined ? {} : { tenant }),
    projects: projects.map(({ name, config }) => compactProject(name, config)),
  };
}

/** The differences between two states of a project, as lines of its file. */
export function projectDiff(
  name: string,
  before: ProjectConfig | null,
  after: ProjectConfig,
): string[] {
  const text = (config: ProjectConfig | null) =>
    config === null ? "" : writeYaml(compactProject(name, withoutImported(config))).trimEnd();
  return lineDiff(text(before), text(after));
}

const withoutImported = ({ imported: _imported, ...config }: ProjectConfig) => config;

/** JSON Schema of the file, for editors. It is made from the schemas that check the file. */
export function configJsonSchema(): object {
  return {
    ...z.toJSONSchema(configFile, { io: "input", unrepresentable: "any" }),
    title: "box configuration",
  };
}
