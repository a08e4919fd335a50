import type { Command } from "commander";
import { fileFault } from "../src/ground/kit/file-fault.ts";
import { widenThreadPool } from "../src/ground/kit/thread-pool.ts";
import { CommandError, exitCodes, report } from "./exit.ts";
import { speakTo, withoutCommands } from "./root.ts";
import { registerServe } from "./serve.ts";

/** `box serve` alone: a box that starts again after a crash doesn't wait until a hundred other commands are made. */
function serveAlone(): Command {
  const program = withoutCommands();
  registerServe(program);
  speakTo(program);
  return program;
}

const withAll = async () => (await import("./program.ts")).createProgram();

/** Runs one command line and returns its exit code. `all`: every command, if they are made already; then it is parsed at once. */
export async function runProgram(words: readonly string[], all?: Command): Promise<number> {
  try {
    const program = words[0] === "serve" ? serveAlone() : (all ?? (await withAll()));
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
