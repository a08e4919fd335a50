/**
 * Files that the program carries beside its code: assets inside the executable, or the files themselves in the source
 * tree. Names are paths in the tree, with "/" on every system.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import sea from "node:sea";
import { pathToFileURL } from "node:url";
import { addonDirectories, loadNative } from "./addon.ts";
import type { ThreadSource } from "./thread.ts";

/** Whether this runs from the single executable. */
export const isPacked: boolean = sea.isSea();

/** Reads a file of the source tree; never called in the executable. */
function sourceFile(name: string): string {
  return path.join(import.meta.dirname, "../../..", name);
}

/** Assets that the executable holds uncompressed. The others are compressed, under their name and `.br`. */
let plain: ReadonlySet<string> | undefined;

function packed(name: string): Uint8Array<ArrayBuffer> {
  plain ??= new Set(sea.getAssetKeys());
  if (plain.has(name)) return new Uint8Array(sea.getAsset(name));
  // Few starts unpack anything, and loading zlib takes milliseconds.
  const { brotliDecompressSync } = process.getBuiltinModule("node:zlib");
  return brotliDecompressSync(new Uint8Array(sea.getRawAsset(`${name}.br`)));
}

/** The text of an asset. Throws where there is none of that name. */
export function asset(name: string): string {
  return isPacked ? new TextDecoder().decode(packed(name)) : readFileSync(sourceFile(name), "utf8");
}

/** The bytes of an asset. Throws where there is none of that name. */
export function assetBytes(name: string): Uint8Array<ArrayBuffer> {
  return isPacked ? packed(name) : new Uint8Array(readFileSync(sourceFile(name)));
}

/** The names of all assets in `folder` ("migrations/box") and below it, sorted; compressed ones with `.br`. */
export function assetNames(folder: string): string[] {
  if (isPacked)
    return sea
      .getAssetKeys()
      .filter((name) => name.startsWith(`${folder}/`))
      .sort();
  const base = sourceFile(folder);
  return readdirSync(base, { recursive: true, encoding: "utf8" })
    .filter((file) => statSync(path.join(base, file)).isFile())
    .map((file) => `${folder}/${file.split(path.sep).join("/")}`)
    .sort();
}

/** The command line that starts this program, for work that gets a process of its own. */
export function ownCommand(): [string, ...string[]] {
  return isPacked ? [process.execPath] : [process.execPath, sourceFile("cli/box.ts")];
}

/** The code of a thread, from a file of the tree whose name ends in `-worker.ts`. */
export function threadSource(name: string): ThreadSource {
  if (!isPacked) return pathToFileURL(sourceFile(name));
  return {
    // Unpacked where a thread starts: unpacking all of them was a fifteenth of what a start takes.
    get code() {
      return asset(name);
    },
  };
}

declare const BOX_VERSION: string | undefined;
declare const BOX_COMMIT: string | undefined;

/** The program's version, from package.json; written into the executable at its build. */
export const version: string =
  typeof BOX_VERSION === "string" ? BOX_VERSION : JSON.parse(asset("package.json")).version;

/** The commit of which the executable was built; `source` in a source tree. */
export const commit: string = typeof BOX_COMMIT === "string" ? BOX_COMMIT : "source";

/** The environment variables that say where the addon may lie. A thread gets no others. */
export function addonPlaces(): Record<string, string> {
  const names = ["BOX_CACHE_DIR", "CACHE_DIRECTORY", "XDG_CACHE_HOME", "HOME"];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

let addon: object | undefined;

/**
 * The executable's SQLite addon, for better-sqlite3's `nativeBinding`; undefined in a source tree, where better-sqlite3
 * finds its own. `directory`: the data directory, the last place where the addon may be written. Throws when no place
 * can hold it.
 */
export function loadAddon(directory: string): object | undefined {
  if (!isPacked) return undefined;
  addon ??= loadNative(
    {
      name: "better-sqlite3",
      version,
      sha256: asset("better-sqlite3.node.sha256"),
      read: () => assetBytes("better-sqlite3.node"),
    },
    addonDirectories(process.env, directory),
  );
  return addon;
}
