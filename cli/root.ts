import { Command } from "commander";
import { version } from "../src/ground/kit/assets.ts";
import { withoutPasswords } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** The command line, before any command is added. */
export function withoutCommands(): Command {
  return new Command("box")
    .description("A self-hosted alert appliance: events in, pages out, nothing lost.")
    .version(version, "-V, --version")
    .enablePositionalOptions()
    .showHelpAfterError("(box --help lists the commands)")
    .exitOverride();
}

/**
 * Help and errors go to the terminal of the parent command, and wrong usage of any command is reported here (2). A
 * command that is added as a whole inherits neither, and would end the process with 1 itself.
 */
export function speakTo(command: Command): void {
  command.exitOverride();
  command.configureOutput({
    writeOut: (text) => terminal().stdout.write(text),
    writeErr: (text) => terminal().stderr.write(withoutPasswords(text)),
  });
  for (const child of command.commands) speakTo(child);
}
