import { CommanderError } from "commander";
import { UsageError } from "../src/kit/flags.ts";
import { type FaultKind, StoreFault } from "../src/store/faults.ts";

/** Exit codes of decisions §11. */
export const exitCodes = {
  failure: 1,
  usage: 2,
  damaged: 65,
  storage: 74,
  configuration: 78,
} as const;

const faultCodes: Record<FaultKind, number> = {
  damaged: exitCodes.damaged,
  foreign: exitCodes.damaged,
  newer: exitCodes.configuration,
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

/** Says on standard error what went wrong and sets the exit code; the only place that does. */
export function exitWith(error: unknown): void {
  if (error instanceof CommanderError) {
    // Commander has printed its message itself; help and version are no failures.
    process.exitCode = error.exitCode === 0 ? 0 : exitCodes.usage;
    return;
  }
  process.exitCode = exitCodeOf(error);
  process.stderr.write(`box: ${error instanceof Error ? error.message : String(error)}\n`);
}

export function exitCodeOf(error: unknown): number {
  if (error instanceof StoreFault) return faultCodes[error.kind];
  if (error instanceof UsageError) return exitCodes.usage;
  if (error instanceof CommandError) return error.exitCode;
  return exitCodes.failure;
}
