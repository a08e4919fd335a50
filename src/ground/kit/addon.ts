import { hash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { makeDirectory } from "./make-directory.ts";

/**
 * The executable writes its native addon into a file, because native code can only be loaded from one. Nobody else may
 * be able to write to that directory. The file is hashed at each start and replaced if a byte differs.
 */
interface NativeAddon {
  name: string;
  /** The program's version. It stands in the file's name, with the hash. */
  version: string;
  /** SHA-256 of the addon, in hexadecimal. */
  sha256: string;
  /** Reads the addon. Called only where no file in the directory is right. */
  read(): Uint8Array;
}

/**
 * The directories in which the addon may lie, in order: `BOX_CACHE_DIR` alone where it is set; else systemd's
 * `CACHE_DIRECTORY`, the user's own cache, and last `.cache` in the data directory. Last, because a command that root
 * runs must not leave files there that the service can't replace.
 */
export function addonDirectories(env: NodeJS.ProcessEnv, dataDirectory: string): string[] {
  if (env["BOX_CACHE_DIR"]) return [path.resolve(env["BOX_CACHE_DIR"])];
  const own = env["XDG_CACHE_HOME"] || (env["HOME"] ? path.join(env["HOME"], ".cache") : "");
  const found = [
    env["CACHE_DIRECTORY"]?.split(":")[0] ?? "",
    own === "" ? "" : path.join(own, "box"),
    path.resolve(dataDirectory, ".cache"),
  ];
  return found.filter((directory) => path.isAbsolute(directory));
}

/** Loads the addon from the first usable directory. Throws one error that names all directories. */
export function loadNative(addon: NativeAddon, directories: readonly string[]): object {
  const refusals: string[] = [];
  for (const directory of directories) {
    try {
      return open(extract(addon, directory));
    } catch (error) {
      refusals.push(`${directory}: ${reasonOf(error)}`);
    }
  }
  throw new Error(
    `No directory can hold the SQLite addon (${refusals.join("; ")}). Set BOX_CACHE_DIR to a directory of your own on a file system that isn't mounted noexec.`,
  );
}

function open(file: string): object {
  const target: { exports: object } = { exports: {} };
  process.dlopen(target, file);
  return target.exports;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.includes("failed to map segment") ? "mounted noexec" : text;
}

/** Writes the file into `directory` unless it is there, and returns its path. */
export function extract({ name, version, sha256, read }: NativeAddon, directory: string): string {
  makeDirectory(directory);
  requireOwnDirectory(directory);
  const file = path.join(directory, `${name}-${version}-${sha256}.node`);
  if (hashOf(file) !== sha256) write(file, read());
  removeOthers(directory, { prefix: `${name}-`, keep: path.basename(file) });
  return file;
}

function requireOwnDirectory(directory: string): void {
  const found = fs.lstatSync(directory);
  if (!found.isDirectory()) throw new Error("is no directory");
  if (found.uid !== process.geteuid?.()) throw new Error("belongs to another user");
  if ((found.mode & 0o022) !== 0) throw new Error("others may write to it");
}

/** SHA-256 of a file; "" unless it is ours, no link, and only we can write to it. */
function hashOf(file: string): string {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  } catch {
    return "";
  }
  try {
    const found = fs.fstatSync(descriptor);
    const isOurs = found.isFile() && found.uid === process.geteuid?.() && !(found.mode & 0o022);
    return isOurs ? hash("sha256", fs.readFileSync(descriptor), "hex") : "";
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Writes under another name first: two processes that start at once never read half a file. */
function write(file: string, bytes: Uint8Array): void {
  const partial = `${file}.${process.pid}`;
  fs.rmSync(partial, { force: true });
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = fs.constants;
  const descriptor = fs.openSync(partial, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY, 0o500);
  try {
    fs.writeSync(descriptor, bytes);
  } finally {
    fs.closeSync(descriptor);
  }
  fs.rmSync(file, { force: true, recursive: true });
  fs.renameSync(partial, file);
}

/** Removes the files of other versions. A process that has loaded one isn't disturbed. */
function removeOthers(directory: string, of: { prefix: string; keep: string }): void {
  for (const file of fs.readdirSync(directory)) {
    const isOther = file.startsWith(of.prefix) && file.endsWith(".node") && file !== of.keep;
    if (isOther) fs.rmSync(path.join(directory, file), { force: true });
  }
}
