import { createReadStream, readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileFault } from "../src/ground/kit/file-fault.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** A file's text; `-` is standard input. Throws CommandError, wrong usage, with the file's name. */
export async function readText(file: string): Promise<string> {
  try {
    return file === "-" ? await text(terminal().stdin) : readFileSync(file, "utf8");
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** A file's bytes as a stream; `-` is standard input. Errors are thrown while it is read. */
export function openText(file: string): Readable {
  return file === "-" ? terminal().stdin : createReadStream(file);
}

/** An error of reading `file`, as a CommandError for people. */
export function unreadable(file: string, error: unknown): CommandError {
  return new CommandError(`${file}: ${fileFault(error)}`, exitCodes.usage);
}

/** A JSON file with an object that has a name. `what`: what it should be ("a rule"). */
export async function readNamed(file: string, what: string): Promise<{ name: string }> {
  const content = await readText(file);
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value === "object" && value !== null && "name" in value)
      if (typeof value.name === "string") return value as { name: string };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${file} is no JSON: ${why}`, exitCodes.usage);
  }
  throw new CommandError(`${file}: ${what} must be a JSON object with a "name"`, exitCodes.usage);
}
