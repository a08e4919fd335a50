import type { Command } from "commander";
import { fileFault } from "../src/ground/kit/file-fault.ts";
import { widenThreadPool } from "../src/ground/kit/thread-pool.ts";
import { CommandError, exitCodes, report } from "./exit.ts";
import { speakTo, withoutCommands } from "./root.ts";
import { registerServe } from "./serve.ts";

/** `box serve` alone: a box that starts again after a crash doesn't wait until a hundred other commands are made. */
async function programOf(word = ""): Promise<Command> {
  if (word !== "serve") return (await import("./program.ts")).createProgram();
  const program = withoutCommands();
  registerServe(program);
  speakTo(program);
  return program;
}

/** Runs one command line and returns its exit code. */
export async function runProgram(program: Command, words: readonly string[]): Promise<number> {
  try {
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
  const words = process.argv.slice(2);
  programOf(words[0])
    .then((program) => runProgram(program, words), report)
    .then((code) => {
      process.exitCode = code;
    });
}
