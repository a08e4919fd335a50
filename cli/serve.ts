import { basename, delimiter, dirname } from "node:path";
import { Command } from "commander";
import type { RunningBox } from "../src/app/box.ts";
import type { BoxConfig, BoxFlags } from "../src/app/config.ts";
import { boxFlags, servingFlags } from "../src/app/serve-flags.ts";
import { isPacked } from "../src/ground/kit/assets.ts";
import { systemClock } from "../src/ground/kit/clock.ts";
import { systemRandom } from "../src/ground/kit/random.ts";
import { commandAt } from "../src/ground/kit/shell.ts";
import { channels } from "../src/out/services/list.ts";
import { USUAL_URL } from "./connection.ts";
import { addFlags, dataFlag, flag, withFlags } from "./options.ts";
import { endOnFatal, keptRunning } from "./running.ts";

export function registerServe(program: Command): void {
  const serve = serveFlags(new Command("serve"), "127.0.0.1:8080").description("run the box");
  withFlags(serve, boxFlags).action(async (flags: BoxFlags) => runBox(flags));
  program.addCommand(serve);
}

/** The flags of both serving roles. */
export function serveFlags(command: Command, listen: string): Command {
  withFlags(addFlags(command, dataFlag), servingFlags(listen));
  for (const { flag: flags, about } of Object.values(channels.settings))
    command.addOption(flag(flags, about));
  return command;
}

async function runBox(flags: BoxFlags): Promise<void> {
  const [{ boxConfig }, { startBox }, { createLog }] = await Promise.all([
    import("../src/app/config.ts"),
    import("../src/app/box.ts"),
    import("../src/ground/kit/log.ts"),
  ]);
  const config = boxConfig(flags);
  const log = createLog(config.logLevel);
  const deps = { clock: systemClock, random: systemRandom, log, onFatal: endOnFatal(log) };
  const keeping = keptRunning(deps);
  const box = await startBox(config, { ...deps, onStandby: keeping });
  await keeping(box);
  const said = box.isNew ? firstSteps(config, box) : wayIn(config, box);
  if (said !== "") process.stdout.write(`${said}\n`);
}

const wayIn = ({ console }: BoxConfig, { linksTo }: RunningBox): string =>
  console ? `to see it in a browser, sign in at ${linksTo}/signin` : "";

/** How to make the first account and get a test page, as commands to paste into another terminal in any folder. */
function firstSteps({ data, console, publicUrl }: BoxConfig, box: RunningBox): string {
  const { url, linksTo } = box;
  const path = isOnPath()
    ? []
    : [`PATH="${isPacked ? dirname(process.execPath) : import.meta.dirname}:$PATH"`];
  // The public address may belong to a proxy on another machine.
  const reached = publicUrl === "" ? linksTo : url;
  const ring = `${commandAt("quickstart", data)}${url === USUAL_URL ? "" : ` --url ${reached}`}`;
  // Only somebody who sits at the machine reads a terminal; a journal is read by others, and kept.
  const link = console && process.stdout.isTTY ? box.ownerLink() : null;
  if (link !== null)
    return [
      "no account yet. This link makes yours in a browser, once, within an hour, and then sets up a phone that rings:",
      indented(link),
      "for another link, or all of it without a browser, in another terminal:",
      ...[...path, commandAt("pair-code", data), ring].map(indented),
    ].join("\n");
  const lines = console
    ? [
        "no account yet. In another terminal, for a link that makes yours in a browser, and then sets up a phone that rings:",
        ...[...path, commandAt("pair-code", data)].map(indented),
        "or all of it without a browser:",
        indented(ring),
      ]
    : [
        "no account yet. In another terminal, to set up an account and a phone that rings:",
        ...[...path, ring].map(indented),
      ];
  return lines.join("\n");
}

/** Whether `box` is this program in another terminal, too. */
function isOnPath(): boolean {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return (
    isPacked &&
    (basename(process.execPath) !== "box" || folders.includes(dirname(process.execPath)))
  );
}

const indented = (line: string) => `  ${line}`;
