import { text } from "node:stream/consumers";
import { CommandError, exitCodes } from "./exit.ts";
import { terminal } from "./terminal.ts";

/** The help of flags that may take a secret. */
export const secretHelp = "- = standard input";

/**
 * Replaces the value `-` by the content of standard input, so that no secret appears in the list of processes. Throws
 * CommandError where two values are `-`, or standard input is empty.
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
