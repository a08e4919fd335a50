/**
 * What the program carries beside its code. In the executable these are assets inside it; in the
 * source tree they are the files themselves. Names are paths in the tree, with "/" on every system.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import sea from "node:sea";
import { pathToFileURL } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { addonDirectories, loadNative } from "./addon.ts";
import type { ThreadSource } from "./thread.ts";

/** Whether this runs from the single executable. */
export const isPacked: boolean = sea.isSea();

/** A file of the source tree. Only asked for outside the executable. */
function sourceFile(name: string): string {
  return path.join(import.meta.dirname, "../../..", name);
}

/** Which assets the executable holds as they are; the others lie there compressed, under their name and `.br`. */
let plain: ReadonlySet<string> | undefined;

function packed(name: string): Uint8Array<ArrayBuffer> {
  plain ??= new Set(sea.getAssetKeys());
  if (plain.has(name)) return new Uint8Array(sea.getAsset(name));
  return brotliDecompressSync(new Uint8Array(sea.getRawAsset(`${name}.br`)));
}

/** The text of an asset. Throws when there is none of that name. */
export function asset(name: string): string {
  return isPacked ? new TextDecoder().decode(packed(name)) : readFileSync(sourceFile(name), "utf8");
}

/** The bytes of an asset. Throws when there is none of that name. */
export function assetBytes(name: string): Uint8Array<ArrayBuffer> {
  return isPacked ? packed(name) : new Uint8Array(readFileSync(sourceFile(name)));
}

/** The names of all assets in `folder` ("migrations/box") and below it, sorted; of compressed ones as they lie there. */
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

/** The words that start this program anew, for what is better done in a process of its own. */
export function ownCommand(): [string, ...string[]] {
  return isPacked ? [process.execPath] : [process.execPath, sourceFile("cli/box.ts")];
}

/** The program of a thread, a file of the tree whose name ends in `-worker.ts`: beside us, or carried inside the executable. */
export function threadSource(name: string): ThreadSource {
  return isPacked ? { code: asset(name) } : pathToFileURL(sourceFile(name));
}

declare const BOX_VERSION: string | undefined;
declare const BOX_COMMIT: string | undefined;

/** The program's version: package.json's, written into the executable when that is built. */
export const version: string =
  typeof BOX_VERSION === "string" ? BOX_VERSION : JSON.parse(asset("package.json")).version;

/** The commit that the executable was built from; `source` in a tree. */
export const commit: string = typeof BOX_COMMIT === "string" ? BOX_COMMIT : "source";

/** What of the environment says where the addon may lie: a thread has none of it but what it is given. */
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
 * The SQLite addon of the executable, for better-sqlite3's `nativeBinding`; undefined in a source
 * tree, where better-sqlite3 finds its own. `directory` is the data directory, the last of the
 * places where the addon may be laid down. Throws when none can hold it.
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
