import { text } from "node:stream/consumers";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** What a value that may be a secret says of itself. */
export const secretHelp = "- = standard input";

/**
 * Values as they were given; the one that is `-` is what standard input holds, so that no secret need stand in the
 * list of processes. Throws CommandError where two are `-`, or standard input is empty.
 */
export async function withSecrets<T extends Record<string, string | undefined>>(
  given: T,
): Promise<T> {
  const fromInput = Object.keys(given).filter((name) => given[name] === "-");
  const [only] = fromInput;
  if (only === undefined) return given;
  if (fromInput.length > 1)
    throw new CommandError(
      `only one of ${fromInput.join(", ")} can come from standard input`,
      exitCodes.usage,
    );
  const value = (await text(terminal().stdin)).replace(/\r?\n$/, "");
  if (value === "") throw new CommandError("standard input is empty", exitCodes.usage);
  return { ...given, [only]: value };
}
