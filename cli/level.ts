import { levelFrom } from "../src/ground/kit/level.ts";
import { CommandError, exitCodes } from "./exit.ts";

/** The help of flags that take a level. */
export const levelHelp = "debug, info, warn, error, critical or a number";

/** Parses a level for `--level`. Throws CommandError, wrong usage. */
export function parseLevel(text: string): number {
  const level = levelFrom(text);
  if (level === null)
    throw new CommandError(`--level must be ${levelHelp}, not "${text}"`, exitCodes.usage);
  return level;
}
