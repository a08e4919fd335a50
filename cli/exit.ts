import { CommanderError } from "commander";
import { version } from "../src/ground/kit/assets.ts";
import { fileFault } from "../src/ground/kit/file-fault.ts";
import { UsageError } from "../src/ground/kit/flags.ts";
import { type FaultKind, StoreFault } from "../src/ground/store/faults.ts";
import { printable } from "./table.ts";
import { terminal } from "./terminal.ts";

/** Exit codes of contract §11. */
export const exitCodes = {
  failure: 1,
  usage: 2,
  /** Asked whether something is as it should be, a command found that it isn't. */
  differs: 2,
  damaged: 65,
  storage: 74,
  configuration: 78,
} as const;

const faultCodes: Record<FaultKind, number> = {
  damaged: exitCodes.damaged,
  foreign: exitCodes.damaged,
  newer: exitCodes.configuration,
  misconfigured: exitCodes.configuration,
  locked: exitCodes.failure,
  io: exitCodes.storage,
  unavailable: exitCodes.failure,
};

/** A failed command with a sentence for the person at the terminal. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Says on standard error what went wrong, and returns the exit code for it. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has printed its message itself; help and version are no failures.
    return error.exitCode === 0 ? 0 : exitCodes.usage;
  }
  // A box's words may hold a sender's: they must not steer the terminal.
  const lines = withoutPasswords(sentenceOf(error)).split("\n").map(printable);
  terminal().stderr.write(`box: ${lines.join("\n")}\n`);
  return exitCodeOf(error);
}

/** What was typed wrongly is said again, and may be an address with its password; what is said is kept in logs. */
export const withoutPasswords = (text: string): string =>
  text.replace(/(:\/\/[^\s:@/]*):[^\s@]*@/g, "$1:…@");

export function exitCodeOf(error: unknown): number {
  if (error instanceof StoreFault) return faultCodes[error.kind];
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof CommandError) return error.exitCode;
  return exitCodes.failure;
}

/** Node's own words for a file that can't be used name a system call; a person needs the file. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  // What an answer lacked: its reader says no more than that.
  if (error instanceof TypeError || error instanceof RangeError)
    return `something was not as this program, ${version}, expects it (${error.message}): is the box of another version? box api GET /v1/version says which`;
  const isOfFile = code !== undefined && path !== undefined && syscall !== undefined;
  return isOfFile ? `${path}: ${fileFault(error)}` : error.message;
}
