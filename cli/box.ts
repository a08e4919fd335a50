import { Command } from "commander";
import { version } from "../src/ground/kit/assets.ts";
import { fileFault } from "../src/ground/kit/file-fault.ts";
import { widenThreadPool } from "../src/ground/kit/thread-pool.ts";
import { registerAdvice } from "./advice.ts";
import { registerAlerts } from "./alerts.ts";
import { registerAudit } from "./audit.ts";
import { registerAway } from "./away.ts";
import { registerBackups } from "./backups.ts";
import { registerCompletion } from "./completion.ts";
import { registerConfig } from "./config.ts";
import { registerConnect } from "./connect.ts";
import { registerContacts } from "./contacts.ts";
import { registerDevices } from "./devices.ts";
import { registerDrill } from "./drill.ts";
import { CommandError, exitCodes, report, withoutPasswords } from "./exit.ts";
import { registerGateways } from "./gateways.ts";
import { registerHeartbeats } from "./heartbeats.ts";
import { registerHolidays } from "./holidays.ts";
import { registerHosted } from "./hosted.ts";
import { registerImport } from "./import.ts";
import { registerIngest } from "./ingest.ts";
import { registerIntegrations } from "./integrations.ts";
import { registerInvite } from "./invite.ts";
import { registerKeyFile } from "./key-file.ts";
import { registerLadders } from "./ladders.ts";
import { registerLogin } from "./login.ts";
import { registerMcp } from "./mcp.ts";
import { registerNotify } from "./notify.ts";
import { registerNumbers } from "./numbers.ts";
import { registerOnCall } from "./oncall.ts";
import { registerOperate } from "./operate.ts";
import { registerOverrides } from "./overrides.ts";
import { registerOverview } from "./overview.ts";
import { registerPeople } from "./people.ts";
import { registerProjects } from "./projects.ts";
import { registerProve } from "./prove.ts";
import { registerQuickstart } from "./quickstart.ts";
import { registerRaw } from "./raw.ts";
import { registerRelay } from "./relay.ts";
import { registerReports } from "./reports.ts";
import { registerRules } from "./rules.ts";
import { registerRun } from "./run.ts";
import { registerSchedules } from "./schedules.ts";
import { registerSearch } from "./search.ts";
import { registerSend } from "./send.ts";
import { registerServe } from "./serve.ts";
import { registerSignIn } from "./sign-in.ts";
import { registerSilences } from "./silences.ts";
import { registerSimulate } from "./simulate.ts";
import { registerSources } from "./sources.ts";
import { registerTail } from "./tail.ts";
import { registerTemplate } from "./template.ts";
import { terminal } from "./terminal.ts";
import { registerWhy } from "./why.ts";

/** The command line. Each group of commands is a file; a command's code is loaded when it runs. */
function withoutCommands(): Command {
  return new Command("box")
    .description("A self-hosted alert appliance: events in, pages out, nothing lost.")
    .version(version, "-V, --version")
    .enablePositionalOptions()
    .showHelpAfterError("(box --help lists the commands)")
    .exitOverride();
}

export function createProgram(): Command {
  const program = withoutCommands();
  registerServe(program);
  registerQuickstart(program);
  registerIngest(program);
  registerSend(program);
  registerRun(program);
  registerTemplate(program);
  registerLogin(program);
  registerAlerts(program);
  registerSearch(program);
  registerWhy(program);
  registerTail(program);
  registerPeople(program);
  registerSignIn(program);
  registerInvite(program);
  registerContacts(program);
  registerNotify(program);
  registerGateways(program);
  registerDevices(program);
  registerOnCall(program);
  registerSchedules(program);
  registerOverrides(program);
  registerAway(program);
  registerOverview(program);
  registerNumbers(program);
  registerAdvice(program);
  registerBackups(program);
  registerProjects(program);
  registerSources(program);
  registerConnect(program);
  registerHeartbeats(program);
  registerSilences(program);
  registerRules(program);
  registerHolidays(program);
  registerLadders(program);
  registerDrill(program);
  registerSimulate(program);
  registerIntegrations(program);
  registerRelay(program);
  registerKeyFile(program);
  registerConfig(program);
  registerImport(program);
  registerOperate(program);
  registerReports(program);
  registerAudit(program);
  registerHosted(program);
  registerRaw(program);
  registerMcp(program);
  registerProve(program);
  registerCompletion(program);
  speakTo(program);
  return program;
}

/**
 * Help and errors go to the terminal of the parent command, and wrong usage of any command is reported here (2). A
 * command that is added as a whole inherits neither, and would end the process with 1 itself.
 */
function speakTo(command: Command): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => terminal().stdout.write(text),
    writeErr: (text) => terminal().stderr.write(withoutPasswords(text)),
  });
  for (const child of command.commands) speakTo(child);
}

/** `box serve` alone: a box that starts again after a crash doesn't wait until a hundred other commands are made. */
function serveAlone(): Command {
  const program = withoutCommands();
  registerServe(program);
  speakTo(program);
  return program;
}

/** Runs one command line and returns its exit code. */
export async function runProgram(words: readonly string[]): Promise<number> {
  try {
    const program = words[0] === "serve" ? serveAlone() : createProgram();
    await program.parseAsync(words, { from: "user" });
    return 0;
  } catch (error) {
    return report(error);
  }
}

/** In `box alerts | head -1` the reader closes the pipe, which is no failure; a full disk is one. */
function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === "EPIPE") process.exit(0);
  report(new CommandError(`standard output: ${fileFault(error)}`));
  process.exit(exitCodes.storage);
}

// No await at the top level: in the executable this is a CommonJS script.
if (import.meta.main !== false) {
  widenThreadPool(process.env);
  process.stdout.on("error", endWithReader);
  // A failing standard error must not end the command: `tail -f … | box ingest` goes on when the log's disk is full.
  process.stderr.on("error", () => {});
  runProgram(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
}
