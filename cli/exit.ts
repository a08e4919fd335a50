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
  /** A command that checks something found a difference. */
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

/** A failed command, with a message for the person at the terminal. */
export class CommandError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = exitCodes.failure) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Prints an error to standard error, and returns its exit code. */
export function report(error: unknown): number {
  if (error instanceof CommanderError) {
    // Commander has printed its message. Help and version aren't failures.
    return error.exitCode === 0 ? 0 : exitCodes.usage;
  }
  // A box's message may contain a sender's text, which must not control the terminal.
  const lines = withoutPasswords(sentenceOf(error)).split("\n").map(printable);
  terminal().stderr.write(`box: ${lines.join("\n")}\n`);
  return exitCodeOf(error);
}

/** An error repeats what was typed, which may be an address with a password, and standard error may end in logs. */
export const withoutPasswords = (text: string): string =>
  text.replace(/(:\/\/[^\s:@/]*):[^\s@]*@/g, "$1:…@");

export function exitCodeOf(error: unknown): number {
  if (error instanceof StoreFault) return faultCodes[error.kind];
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof CommandError) return error.exitCode;
  return exitCodes.failure;
}

/** Node's message for an unusable file names a system call; a person needs the file. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  // The answer lacked a part, and the code that read it only says that.
  if (error instanceof TypeError || error instanceof RangeError)
    return `the answer isn't what this program, ${version}, expects (${error.message}): has the box another version? box api GET /v1/version says which`;
  const isOfFile = code !== undefined && path !== undefined && syscall !== undefined;
  return isOfFile ? `${path}: ${fileFault(error)}` : error.message;
}
