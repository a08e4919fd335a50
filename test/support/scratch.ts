import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { digestFile } from "../../src/ground/store/files.ts";

/** A directory that goes with the test. */
export function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "box-scratch-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Every file below a directory with its hash, by name; but not SQLite's shared memory, which a look makes. */
export function hashes(directory: string): Record<string, string> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    names
      .filter((name) => statSync(join(directory, name)).isFile() && !name.endsWith("-shm"))
      .map((name) => [name, digestFile(join(directory, name)).sha256])
      .filter(([, hash]) => hash !== EMPTY),
  );
}

const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
