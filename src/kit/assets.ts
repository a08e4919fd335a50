import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Files that travel inside the executable. In a source tree they are read from it.
 * `asset("migrations/box/0001_start.sql")` is the text; names use "/" on every system.
 */
type Sea = {
  isSea(): boolean;
  getAsset(name: string, encoding: string): string;
  getAssetKeys(): string[];
};

const sea = createRequire(import.meta.url)("node:sea") as Sea;
const root = fileURLToPath(new URL("../../", import.meta.url));

export function asset(name: string): string {
  return sea.isSea() ? sea.getAsset(name, "utf8") : readFileSync(root + name, "utf8");
}

/** The names of all assets under `folder` ("migrations/box"), sorted. */
export function assetNames(folder: string): string[] {
  const names = sea.isSea()
    ? sea.getAssetKeys().filter((name) => name.startsWith(`${folder}/`))
    : readdirSync(root + folder).map((name) => `${folder}/${name}`);
  return names.sort();
}

/** The SQLite addon of the executable, extracted under `directory`; undefined in a source tree. */
export function loadAddon(_directory: string): object | undefined {
  return undefined;
}
