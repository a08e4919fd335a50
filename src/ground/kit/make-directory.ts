import { mkdirSync, type Stats, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a missing directory (0700) and those above it. Node's `recursive` tries for ever where a directory takes nothing
 * new and calls that ENOENT: in /proc, or below an automounter whose server is off.
 */
export function makeDirectory(directory: string): { isNew: boolean } {
  try {
    mkdirSync(directory, { mode: 0o700 });
    return { isNew: true };
  } catch (error) {
    if (seen(directory)?.isDirectory()) return { isNew: false };
    mustLackParent(error, { directory, parent: seen(dirname(directory)) });
  }
  makeDirectory(dirname(directory));
  return makeDirectory(directory);
}

/** The same, and the event loop never waits for a disk that doesn't answer. */
export async function makeDirectoryLater(directory: string): Promise<void> {
  try {
    await mkdir(directory, { mode: 0o700 });
    return;
  } catch (error) {
    if ((await look(directory))?.isDirectory()) return;
    mustLackParent(error, { directory, parent: await look(dirname(directory)) });
  }
  await makeDirectoryLater(dirname(directory));
  await makeDirectoryLater(directory);
}

const seen = (path: string) => statSync(path, { throwIfNoEntry: false });
const look = (path: string) => stat(path).catch(() => undefined);

/** Throws where the directory can't be made for another reason than a missing parent. */
function mustLackParent(
  error: unknown,
  { directory, parent }: { directory: string; parent: Stats | undefined },
): void {
  const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
  if (!isMissing) throw error;
  if (parent !== undefined)
    throw new Error(`nothing can be made in ${dirname(directory)}`, { cause: error });
}
