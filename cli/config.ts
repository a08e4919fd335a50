import { writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { foldEmail } from "../src/people/email.ts";
import type { AppliedAnswer } from "../src/records/config-file/applied.ts";
import type { ConfigDocument, FileProject } from "../src/records/config-file/document.ts";
import { api, v1 } from "./api.ts";
import {
  laddersOfProject,
  laddersText,
  mustEndNoLadder,
  withNamedSchedules,
} from "./config-ladders.ts";
import { invitePeople, type MadePerson, planPeople, showPeople } from "./config-people.ts";
import { ofFile, type TenantChange } from "./config-plan.ts";
import { planTenant, showTenant, tenantNow } from "./config-tenant.ts";
import type { ApiOptions } from "./connection.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText } from "./files.ts";
import { apiFlags, type GivenBy, print } from "./options.ts";
import { allProjects } from "./projects.ts";
import { RefusedError } from "./refused.ts";
import { printable, table } from "./table.ts";
import { terminal } from "./terminal.ts";

/** `box config`: projects with all their settings, as a file to keep, compare and apply. */
export function registerConfig(program: Command): void {
  const config = program.command("config").description("configuration as a file");
  apiFlags(config.command("export"), exportConfigFlags)
    .description(
      "print the configuration as YAML: projects with sources, schedules, actions, integrations, rules, heartbeats and repeating maintenance; the box's holidays, ladders, gateways and fallback",
    )
    .action(exportConfig);
  apiFlags(config.command("apply <file>"), applyConfigFlags)
    .description(
      "apply a file to projects, ladders, gateways and fallback, and create missing accounts for its people (- = standard input)",
    )
    .action(applyConfig);
  config
    .command("schema")
    .description("print the file's JSON Schema, for editors")
    .action(async () => {
      const { configJsonSchema } = await import("../src/records/config-file/document.ts");
      terminal().stdout.write(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
    });
}

type Config = FileProject["config"];

interface Current {
  version: number;
  /** null where there is no such project. */
  config: Config | null;
}

const exportConfigFlags = {
  "--project <name...>": "only these projects, and nothing of the whole box",
  "--with-people": "with everybody's email, name and role",
  "--with-overrides": "with the overrides of schedules that aren't over",
  "--out <file>": "write to a file",
};

async function exportConfig(options: GivenBy<typeof exportConfigFlags>): Promise<void> {
  const { configValue, printConfigFile } = await import("../src/records/config-file/document.ts");
  const names = options.project ?? (await allProjects(options)).map(({ name }) => name);
  const projects: FileProject[] = [];
  for (const name of names.toSorted()) {
    const { config } = await current(options, name, options.withOverrides === true);
    if (config === null) throw new CommandError(`there is no project "${name}"`);
    projects.push({ name, config });
  }
  const tenant = options.project === undefined ? await tenantNow(options) : undefined;
  const people = options.withPeople ? tenant?.accounts : undefined;
  const text = printConfigFile(projects, tenant, people);
  if (options.out !== undefined) writeFileSync(options.out, text, { mode: 0o600 });
  else if (options.json) print(configValue(projects, tenant, people), options, () => "");
  else terminal().stdout.write(text);
}

async function current(options: ApiOptions, name: string, overrides: boolean): Promise<Current> {
  const place = `${v1("projects", name, "config")}${overrides ? "?overrides=true" : ""}`;
  try {
    return await api.get<Current>(options, place);
  } catch (error) {
    if (error instanceof RefusedError && error.status === 404) return { version: 0, config: null };
    throw error;
  }
}

/** An older box says less of it. */
type Applied = Omit<AppliedAnswer, "kept" | "ladders_end"> &
  Partial<Pick<AppliedAnswer, "kept" | "ladders_end">>;

interface Planned {
  name: string;
  /** What the file is compared with. */
  before: Current;
  /** Whether overrides are part of it. */
  overrides: boolean;
  planned: Applied;
  put(dryRun: boolean): Promise<Applied>;
}

const applyConfigFlags = {
  "--dry-run": "show what would change, and change nothing",
  "--delete": "also delete what isn't in the file (never people)",
  "--yes": "confirm a change after which some open alerts page nobody any more",
  "--exit-code": "with --dry-run: exit with 2 if something would change",
  "--invite": "make an invitation for each new person, good for a week",
};

async function applyConfig(file: string, options: GivenBy<typeof applyConfigFlags>): Promise<void> {
  if (options.exitCode && !options.dryRun)
    throw new CommandError("--exit-code needs --dry-run", exitCodes.usage);
  const document = await readDocument(file);
  const people = await planPeople(options, document);
  const expected = people.missing.map(({ email }) => foldEmail(email));
  const plans: Planned[] = [];
  for (const i of homesFirst(document.projects))
    plans.push(await plan(options, document, { i, expected }));
  const tenant = await planTenant(options, document, expected);
  if (!options.json) {
    showPeople(people);
    for (const one of plans) await showPlan(one);
  }
  if (!options.json && document.tenant !== null) showTenant(tenant);
  if (options.dryRun) {
    const planned = plans.map(({ name, planned }) => ({ name, ...planned }));
    const asked = summary(planned, document, { tenant, people: people.missing });
    print(asked, options, () => "");
    const isSame = plans.every(isDone) && tenant.length === 0 && people.missing.length === 0;
    if (options.exitCode && !isSame)
      throw new CommandError("the box differs from the file", exitCodes.differs);
    return;
  }
  if (!options.delete) mustDeleteNothing(plans, tenant);
  if (!options.yes) mustEndNoLadder(plans.map(({ name, planned }) => ({ name, ...planned })));
  const made = await people.apply();
  for (const { apply, neededBy } of tenant) if (neededBy === "schedules") await apply();
  await applyLadders(options, document, { plans, tenant });
  const done: (Applied & { name: string })[] = [];
  for (const one of plans) {
    if (isDone(one)) continue;
    done.push({ name: one.name, ...(await one.put(false)) });
  }
  // Last, because the fallback may name schedules that the projects have just got.
  for (const { apply, neededBy } of tenant) if (neededBy === undefined) await apply();
  const invited = options.invite ? await invitePeople(options, made) : made;
  print(summary(done, document, { tenant, people: invited }), options, () =>
    doneText(done, { tenant, people: invited }),
  );
}

/** Ladders that are made or replaced, and before them the shared schedules that they name. */
async function applyLadders(
  options: ApiOptions,
  document: ConfigDocument,
  { plans, tenant }: { plans: readonly Planned[]; tenant: readonly TenantChange[] },
): Promise<void> {
  const changes = tenant.filter(({ neededBy }) => neededBy === "rules");
  if (changes.length === 0) return;
  for (const one of plans) {
    const file = document.projects.find(({ name }) => name === one.name) as FileProject;
    const { version, config: before } = one.before;
    const config = withNamedSchedules(file, before, document.tenant?.ladders ?? []);
    if (config === null) continue;
    const at = v1("projects", one.name, "config");
    await api.put(options, at, { version, config });
    one.before = await current(options, one.name, one.overrides);
  }
  for (const { apply } of changes) await apply();
}

async function readDocument(file: string): Promise<ConfigDocument> {
  const { ConfigFileFault, parseConfigFile } = await import(
    "../src/records/config-file/document.ts"
  );
  const text = await readText(file);
  try {
    const directory = file === "-" ? process.cwd() : dirname(resolve(file));
    return parseConfigFile(text, { env: terminal().env, directory });
  } catch (error) {
    if (!(error instanceof ConfigFileFault)) throw error;
    throw new CommandError(`${file}:\n${error.message}`, exitCodes.usage);
  }
}

/** Applies the file on trial, so the box reports what it would refuse before anything changes. */
async function plan(
  options: ApiOptions,
  document: ConfigDocument,
  { i, expected }: { i: number; expected: string[] },
): Promise<Planned> {
  const { name, config } = document.projects[i] as FileProject;
  const overrides = config.schedules.some((one) => one.overrides !== undefined);
  const before = await current(options, name, overrides);
  const planned = { name, before, overrides } as Planned;
  planned.put = async (dryRun: boolean): Promise<Applied> => {
    const { before } = planned;
    const place = v1("projects", name, "config");
    // Other projects of this file may have raised the version without changing anything else.
    const now = dryRun ? before : await current(options, name, overrides);
    const version = same(now.config, before.config) ? now.version : before.version;
    const to = `${place}?dry_run=${dryRun}`;
    const assumed = {
      assume: sharedIn(document.projects),
      assume_people: expected,
      ...document.assumed,
    };
    const body = { version, config, ...(dryRun && assumed) };
    const faults = ofFile(`project "${name}"`, ({ details }) => document.faultsOf(i, details));
    return api.put<Applied>(options, to, body).catch(faults);
  };
  planned.planned = await planned.put(true);
  return planned;
}

const isDone = ({ planned, before }: Planned): boolean =>
  planned.changes.length === 0 && before.config !== null;

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Schedules that the file's projects share, which exist once they are applied. */
const sharedIn = (projects: readonly FileProject[]): string[] =>
  projects.flatMap(({ name, config }) =>
    config.schedules.filter(({ shared }) => shared).map((one) => `${name}/${one.name}`),
  );

/** The order in which to apply the projects: after those whose schedules their ladders name, where possible. */
function homesFirst(projects: readonly FileProject[]): number[] {
  const placed = new Set<number>();
  const place = (i: number, above: readonly number[]): void => {
    if (placed.has(i) || above.includes(i)) return;
    const named = (projects[i]?.config.rules ?? [])
      .flatMap(({ escalations }) => escalations.flatMap(({ schedules }) => schedules))
      .map((name) => name.slice(0, Math.max(0, name.indexOf("/"))));
    for (const [at, { name }] of projects.entries())
      if (named.includes(name)) place(at, [...above, i]);
    placed.add(i);
  };
  for (const i of projects.keys()) place(i, []);
  return [...placed];
}

async function showPlan({ name, before, planned }: Planned): Promise<void> {
  const { projectDiff } = await import("../src/records/config-file/document.ts");
  const diff = projectDiff(name, before.config, planned.config).map(printable);
  const changes = planned.changes.map(({ change, kind, name, was }) =>
    was === undefined
      ? `  ${change} ${kind} ${printable(name)}${kind === "ladder" && change === "update" ? ": open alerts of its rules follow it" : ""}`
      : `  rename ${kind} ${printable(was)} to ${printable(name)}`,
  );
  const ends = laddersText(planned).map((line) => `  ${line}`);
  const kept = keptText(planned).map((line) => `  ${line}`);
  const made = changes.length === 0 ? ["  nothing changes"] : [...changes, ...ends];
  const lines = [...made, ...kept, ...(changes.length === 0 ? [] : diff)];
  terminal().stdout.write(`project ${printable(name)}\n${lines.join("\n")}\n`);
}

const WHY_KEPT = {
  changed_here: "it was changed here since the last import",
  made_here: "it was made here, and no import made it",
  vanished: "the other system has it no more",
};

const keptText = ({ kept = [] }: Applied): string[] =>
  kept.map(({ kind, name, why }) => `keep ${kind} ${printable(name)}: ${WHY_KEPT[why]}`);

function mustDeleteNothing(plans: readonly Planned[], tenant: readonly TenantChange[]): void {
  const inProjects = plans.flatMap(({ name, planned }) =>
    planned.changes.map((change) => ({ ...change, of: `${name}: ` })),
  );
  const deleted = [...inProjects, ...tenant.map((change) => ({ ...change, of: "" }))]
    .filter(({ change }) => change === "delete")
    .map(({ of, kind, name }) => `${of}${kind} ${printable(name)}`);
  if (deleted.length === 0) return;
  throw new CommandError(
    `nothing was changed: this would delete\n  ${deleted.join("\n  ")}\n--delete deletes it`,
  );
}

function summary(
  projects: readonly (Applied & { name: string })[],
  document: ConfigDocument,
  made: { tenant: readonly TenantChange[]; people: readonly object[] },
): object {
  const tenant = {
    changes: made.tenant.map(
      ({ apply: _apply, neededBy: _neededBy, lines: _lines, ...change }) => change,
    ),
  };
  return {
    ...(document.people.length === 0 ? {} : { people: made.people }),
    projects: projects.map(({ config: _config, ...rest }) => rest),
    ...(document.tenant === null ? {} : { tenant }),
  };
}

function doneText(
  done: readonly (Applied & { name: string })[],
  { tenant, people }: { tenant: readonly TenantChange[]; people: readonly MadePerson[] },
): string {
  const codes = people.flatMap(({ email, link }) =>
    link === undefined ? [] : [["", `invitation of ${email}`, link]],
  );
  const inProjects = done.flatMap(({ name, tokens, secrets, heartbeats }) => [
    ...tokens.map((one) => [name, `source ${one.name}`, one.token]),
    ...heartbeats.map((one) => [name, `heartbeat ${one.name}`, one.ping_url]),
    ...secrets.map((one) => [name, `webhook ${one.name || one.url}`, one.secret]),
  ]);
  const count = done.reduce(
    (sum, { changes }) => sum + changes.length,
    tenant.length + people.length,
  );
  const shown = [...codes, ...inProjects];
  const said = [`applied ${count} changes`, ...done.flatMap(laddersOfProject)].join("\n");
  if (shown.length === 0) return said;
  return `${said}\n\n${table(["PROJECT", "MADE", "SHOWN THIS ONCE"], shown)}`;
}
