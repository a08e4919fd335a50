// Node loads these promises when they are first used, unlike those of node:fs/promises.
import { mkdirSync, promises, statSync } from "node:fs";
import { dirname } from "node:path";

const MODE = { mode: 0o700 };

/**
 * Makes a missing directory (0700) and those above it. Node's `recursive` tries for ever where a directory takes nothing
 * new and calls that ENOENT: in /proc, or below an automounter whose server is off.
 */
export function makeDirectory(directory: string): { isNew: boolean } {
  return made(directory, false);
}

/** `hasParent`: it was there a moment ago, so a missing one is no reason any more. */
function made(directory: string, hasParent: boolean): { isNew: boolean } {
  try {
    mkdirSync(directory, MODE);
    return { isNew: true };
  } catch (error) {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return { isNew: false };
    mustLackParent(error, directory, hasParent);
  }
  made(dirname(directory), false);
  return made(directory, true);
}

/** As `makeDirectory`, and the event loop never waits for a disk that doesn't answer. */
export const makeDirectoryAsync = (directory: string): Promise<void> => madeAsync(directory, false);

async function madeAsync(directory: string, hasParent: boolean): Promise<void> {
  try {
    return await promises.mkdir(directory, MODE);
  } catch (error) {
    const found = await promises.stat(directory).catch(() => null);
    if (found?.isDirectory()) return;
    mustLackParent(error, directory, hasParent);
  }
  await madeAsync(dirname(directory), false);
  await madeAsync(directory, true);
}

/** Throws where it can't be made for another reason than a missing parent. */
function mustLackParent(error: unknown, directory: string, hasParent: boolean): void {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  if (!isMissing) throw error;
  if (hasParent) throw new Error(`nothing can be made in ${dirname(directory)}`, { cause: error });
}
