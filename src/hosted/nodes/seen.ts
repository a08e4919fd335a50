import { readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { syncDirectory, writeSynced } from "../../ground/store/files.ts";
import { hostedFiles } from "../files.ts";
import type { Generation, SeenGeneration } from "../registry/generation.ts";

/**
 * The latest generation of the database that this data directory's node has seen, kept over restarts. `onFault`: called
 * where it can't be written; then it is remembered until the process ends.
 */
export function seenIn(data: string, onFault: (error: unknown) => void): SeenGeneration {
  const path = join(data, hostedFiles.seen);
  let latest = read(path);
  return {
    latest: () => latest,
    saw(generation) {
      latest = generation;
      try {
        write(data, path, generation);
      } catch (error) {
        onFault(error);
      }
    },
    forget: `remove ${path} where it is meant`,
  };
}

/** The same for a command, which writes nothing. */
export function seenByCommand(data: string): SeenGeneration {
  const seen = seenIn(data, () => {});
  let latest = seen.latest();
  return {
    ...seen,
    latest: () => latest,
    saw(generation) {
      latest = generation;
    },
  };
}

function read(path: string): Generation | null {
  try {
    const [, system, timeline] = /^(\d+) (\d+)\n$/.exec(readFileSync(path, "utf8")) ?? [];
    return system === undefined ? null : { system, timeline: Number(timeline) };
  } catch {
    return null;
  }
}

function write(data: string, path: string, { system, timeline }: Generation): void {
  const aside = `${path}.new`;
  rmSync(aside, { force: true });
  writeSynced(aside, `${system} ${timeline}\n`);
  renameSync(aside, path);
  syncDirectory(data);
}
