import { existsSync, writeFileSync } from "node:fs";
import type { Command } from "commander";
import { systemClock, unixSeconds } from "../src/ground/kit/clock.ts";
import type { FlagsGiven } from "../src/ground/kit/flags.ts";
import type { Imported, Importer } from "../src/records/import/importer.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readGiven } from "./import-files.ts";
import { addFlags } from "./options.ts";
import { printable } from "./table.ts";
import { terminal } from "./terminal.ts";

const importFlags = {
  "--from-url <url>": "read from the running system instead of files: the address of its API",
  "--token <file>": "with --from-url: file with the API's token (- = standard input)",
  "--project <name>": "name of the project (default: the system's name)",
  "--output <file>":
    "write the configuration to FILE, and its credentials to FILE.env (default: standard output)",
  "--report <file>": "write the report to this file (default: standard error)",
};
type ImportFlags = FlagsGiven<typeof importFlags>;

/** `box import`: turns another system's export into a configuration file, without calling a box. */
export function registerImport(program: Command): void {
  addFlags(program.command("import <system> [file...]"), importFlags)
    .description(
      "turn another system's export into a configuration file (alertmanager, pagerduty, opsgenie, goalert, oncall), with a report of what is the same here and what isn't (a folder: its .json, .yml and .yaml; - = standard input)",
    )
    .action(async (system: string, paths: string[], flags: ImportFlags) => {
      const { importers } = await import("../src/records/import/list.ts");
      const importer = importers.find((one) => one.system === system);
      if (importer === undefined) {
        const known = importers.map((one) => one.system).join(", ");
        throw new CommandError(
          `the system must be one of ${known}, not "${system}"`,
          exitCodes.usage,
        );
      }
      await importWith(importer, paths, flags);
    });
}

/** Runs the command for one system. Existing files are never overwritten. */
export async function importWith(
  importer: Importer,
  paths: readonly string[],
  flags: ImportFlags,
): Promise<void> {
  const { fromUrl, token } = flags;
  if ((fromUrl === undefined) === (paths.length === 0))
    throw new CommandError("name files, or --from-url", exitCodes.usage);
  if (fromUrl === undefined && token !== undefined)
    throw new CommandError("--token needs --from-url", exitCodes.usage);
  const { output, report } = flags;
  const envFile = output === undefined ? undefined : `${output}.env`;
  for (const file of [output, envFile, report])
    if (file !== undefined && existsSync(file))
      throw new CommandError(`${file}: it exists already and was not changed`, exitCodes.usage);
  const imported = await read(importer, paths, flags);
  const { config, secrets } = imported;
  const text = await checkedText(imported);
  const { reportText, secretsText } = await import("../src/records/import/report.ts");
  if (output === undefined) terminal().stdout.write(text);
  else writeNew(output, text);
  const hasSecrets = secrets.length > 0;
  if (envFile !== undefined && hasSecrets) writeNew(envFile, secretsText({ secrets }));
  const next = await nextCommands(config.projects?.length ?? 0, { output, hasSecrets });
  // Without an output file, secrets aren't written and must be entered.
  const entered = secrets.map((one) => (output === undefined ? { ...one, value: null } : one));
  const said = reportText(importer.title, { ...imported, secrets: entered }, { next });
  if (report === undefined)
    terminal().stderr.write(`${said.trimEnd().split("\n").map(printable).join("\n")}\n`);
  else writeNew(report, said);
}

async function read(
  importer: Importer,
  paths: readonly string[],
  { project, fromUrl, token }: ImportFlags,
): Promise<Imported> {
  const { ImportFault } = await import("../src/records/import/given-file.ts");
  try {
    const files =
      fromUrl === undefined ? await readGiven(paths) : await readOther(importer, fromUrl, token);
    return importer.read(files, { now: unixSeconds(systemClock), project: project ?? null });
  } catch (error) {
    if (!(error instanceof ImportFault)) throw error;
    throw new CommandError(error.message, exitCodes.usage);
  }
}

async function readOther(importer: Importer, fromUrl: string, token: string | undefined) {
  const { readLive } = await import("./import-live.ts");
  return readLive(importer, { fromUrl, token });
}

/** The text of the file, checked as a configuration file. */
async function checkedText({ config, secrets }: Imported): Promise<string> {
  const { ConfigFileFault, parseConfigFile } = await import(
    "../src/records/config-file/document.ts"
  );
  const { writeYaml } = await import("../src/records/config-file/yaml.ts");
  const text = writeYaml(config);
  const env = Object.fromEntries(secrets.map((one) => [one.env, one.value || "to be entered"]));
  try {
    parseConfigFile(text, { env, directory: process.cwd() });
    return text;
  } catch (error) {
    if (!(error instanceof ConfigFileFault)) throw error;
    throw new CommandError(
      `the result is no valid configuration; nothing was written\n${error.message}`,
    );
  }
}

/** Readable by its owner only: it may name people, and contain addresses that are as secret as passwords. */
function writeNew(file: string, text: string): void {
  writeFileSync(file, text, { mode: 0o600, flag: "wx" });
}

async function nextCommands(
  projects: number,
  { output, hasSecrets }: { output: string | undefined; hasSecrets: boolean },
): Promise<string[]> {
  if (projects === 0) return [];
  const { shellQuoted } = await import("../src/ground/kit/shell.ts");
  const name = output ?? "FILE";
  const file = shellQuoted(name);
  // A shell looks for a name without a slash on the PATH.
  const sourced = shellQuoted(name.includes("/") ? `${name}.env` : `./${name}.env`);
  return [
    ...(hasSecrets && output !== undefined ? [`set -a; . ${sourced}; set +a`] : []),
    `box config apply --dry-run ${file}`,
    `box config apply ${file}`,
  ];
}
