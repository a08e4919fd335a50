import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { GivenFile } from "../src/records/import/given-file.ts";
import { CommandError, exitCodes } from "./exit.ts";
import { readText, unreadable } from "./files.ts";

export const MOST_FILES = 5_000;
export const MOST_BYTES = 64 * 1024 * 1024;

/** The named files, and the .json, .yml and .yaml files in named folders, sorted. Throws wrong usage. */
export async function readGiven(paths: readonly string[]): Promise<GivenFile[]> {
  const names = paths.flatMap(filesOf);
  if (names.length === 0)
    throw new CommandError(
      `${paths.join(", ")}: there is no .json, .yml or .yaml file below it`,
      exitCodes.usage,
    );
  if (names.length > MOST_FILES)
    throw new CommandError(`${names.length} files, more than ${MOST_FILES}`, exitCodes.usage);
  const files: GivenFile[] = [];
  let bytes = 0;
  for (const name of names) {
    if (name !== "-") bytes += sizeOf(name);
    if (bytes > MOST_BYTES)
      throw new CommandError(
        `${name}: with it the files have more than ${MOST_BYTES / 1024 / 1024} MB`,
        exitCodes.usage,
      );
    files.push({ name, text: await readText(name) });
  }
  return files;
}

function filesOf(path: string): string[] {
  if (path === "-") return [path];
  try {
    if (!statSync(path).isDirectory()) return [path];
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(json|ya?ml)$/i.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch (error) {
    throw unreadable(path, error);
  }
}

function sizeOf(file: string): number {
  try {
    return statSync(file).size;
  } catch (error) {
    throw unreadable(file, error);
  }
}
