import { existsSync, promises, readFileSync, statSync } from "node:fs";
import { fileFault } from "../../ground/kit/file-fault.ts";
import { checkCopy } from "../../ground/store/check.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { digestFile } from "../../ground/store/files.ts";
import { checkHeader } from "../../ground/store/header.ts";
import { type Manifest, manifestBeside } from "../../ground/store/snapshot.ts";

/**
 * Checks FILE against FILE.json: first the hash, then every page, the references and the row counts. Changes nothing.
 * Throws StoreFault "damaged" that says what is wrong.
 */
export function verifyBackup(file: string): Manifest {
  for (;;) {
    const manifest = readManifest(file);
    try {
      checkAll(file, manifest);
      return manifest;
    } catch (error) {
      if (!isReplaced(file, manifest)) throw error;
    }
  }
}

function checkAll(file: string, manifest: Manifest): void {
  checkBytes(file, manifest);
  for (const end of ["-wal", "-journal"])
    if ((statSync(file + end, { throwIfNoEntry: false })?.size ?? 0) > 0)
      throw new StoreFault("damaged", `${file}${end} doesn't belong to a backup: move it away.`);
  checkInside(file, manifest);
}

/** Whether FILE is no longer the backup that `manifest` describes. Throws as `readManifest` does. */
export function isReplaced(file: string, manifest: Manifest): boolean {
  return readManifest(file).sha256 !== manifest.sha256;
}

/**
 * FILE's manifest: FILE.json, or FILE.json.next where the power failed between replacing FILE and its manifest. Throws
 * StoreFault where it is missing or unusable.
 */
export function readManifest(file: string): Manifest {
  if (!existsSync(file)) throw new StoreFault("unavailable", `There is no ${file}.`);
  const { present, next } = manifestBeside(file);
  // Read without a check that it exists: another process that replaces FILE may rename it at any moment.
  const coming = readWords(next, file);
  if (coming !== null && digest(file).sha256 === coming.sha256) return coming;
  const manifest = readWords(present, file);
  if (manifest !== null) return manifest;
  throw new StoreFault("damaged", `${file} has no ${present}, its description.`);
}

/** FILE.json, without blocking. While FILE is being replaced, that is the old one. Throws as `readManifest` does. */
export async function seeManifest(file: string): Promise<Manifest> {
  const { present, next } = manifestBeside(file);
  await promises.access(file);
  const words = await promises
    .readFile(present, "utf8")
    .catch(() => promises.readFile(next, "utf8"));
  return manifestOf(words, present, file);
}

/** null where there is none. */
function readWords(path: string, file: string): Manifest | null {
  let words: string;
  try {
    words = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw unreadable(error, path, file);
  }
  return manifestOf(words, path, file);
}

function manifestOf(words: string, path: string, file: string): Manifest {
  let said: Partial<Manifest>;
  try {
    said = JSON.parse(words) as Partial<Manifest>;
  } catch (error) {
    throw unreadable(error, path, file);
  }
  const isWhole =
    /^[0-9a-f]{64}$/.test(said?.sha256 ?? "") &&
    Number.isSafeInteger(said.size) &&
    Number.isSafeInteger(said.schema) &&
    Number.isSafeInteger(said.taken_at) &&
    (said.kind === "box" || said.kind === "hosted") &&
    typeof said.counts === "object";
  if (!isWhole) throw new StoreFault("damaged", `${path} is no description of a backup.`);
  return said as Manifest;
}

function unreadable(error: unknown, path: string, file: string): StoreFault {
  return new StoreFault(
    "damaged",
    `${path}, the description of ${file}, can't be read: ${fileFault(error)}`,
    error,
  );
}

/** Throws StoreFault "damaged" where the bytes differ from those that were written. */
export function checkBytes(path: string, { sha256, size }: Manifest): void {
  const found = digest(path);
  if (found.size !== size)
    throw new StoreFault("damaged", `${path} has ${found.size} bytes; the backup had ${size}.`);
  if (found.sha256 !== sha256)
    throw new StoreFault("damaged", `${path} is damaged: its SHA-256 isn't that of the backup.`);
}

function digest(path: string) {
  try {
    return digestFile(path);
  } catch (error) {
    throw StoreFault.from(error, path);
  }
}

/** Throws StoreFault "damaged" where the store inside is damaged, or its row counts are wrong. */
export function checkInside(path: string, manifest: Manifest): void {
  checkHeader(path, manifest.kind);
  const { counts, schema } = checkCopy(path);
  const differs = Object.keys({ ...counts, ...manifest.counts }).filter(
    (table) => counts[table] !== manifest.counts[table],
  );
  if (schema !== manifest.schema || differs.length > 0)
    throw new StoreFault(
      "damaged",
      `${path} doesn't contain what its description counts (${differs.join(", ") || "schema"}).`,
    );
}
