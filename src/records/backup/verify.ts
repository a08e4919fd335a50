import { existsSync, readFileSync, statSync } from "node:fs";
import { access, readFile } from "node:fs/promises";
import { fileFault } from "../../ground/kit/file-fault.ts";
import { checkCopy } from "../../ground/store/check.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { digestFile } from "../../ground/store/files.ts";
import { checkHeader } from "../../ground/store/header.ts";
import { type Manifest, manifestBeside } from "../../ground/store/snapshot.ts";

/**
 * Holds FILE against what FILE.json says of it: hash first, then every page, the references and the
 * counts. Changes nothing. Throws StoreFault "damaged" with what is wrong.
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

/** Whether FILE is another backup by now than the one that `manifest` was read of. Throws as `readManifest` does. */
export function isReplaced(file: string, manifest: Manifest): boolean {
  return readManifest(file).sha256 !== manifest.sha256;
}

/**
 * What FILE.json says; or FILE.json.next, where FILE was replaced and the power went before its manifest was.
 * Throws StoreFault where it is absent or says nothing of use.
 */
export function readManifest(file: string): Manifest {
  if (!existsSync(file)) throw new StoreFault("unavailable", `There is no ${file}.`);
  const { present, next } = manifestBeside(file);
  // Read, and not looked for first: whoever replaces FILE gives it its lasting name at any moment.
  const coming = readWords(next, file);
  if (coming !== null && digest(file).sha256 === coming.sha256) return coming;
  const manifest = readWords(present, file);
  if (manifest !== null) return manifest;
  throw new StoreFault("damaged", `${file} has no ${present}, which says what it must be.`);
}

/** What FILE.json says, for a look that nothing waits for; where FILE is being replaced, of the one before. Throws like `readManifest`. */
export async function seeManifest(file: string): Promise<Manifest> {
  const { present, next } = manifestBeside(file);
  await access(file);
  const words = await readFile(present, "utf8").catch(() => readFile(next, "utf8"));
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
    `${path}, which says what ${file} must be, can't be read: ${fileFault(error)}`,
    error,
  );
}

/** Throws StoreFault "damaged" where the bytes aren't those that were written. */
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

/** Throws StoreFault "damaged" where the inside isn't whole or not what was counted. */
export function checkInside(path: string, manifest: Manifest): void {
  checkHeader(path, manifest.kind);
  const { counts, schema } = checkCopy(path);
  const differs = Object.keys({ ...counts, ...manifest.counts }).filter(
    (table) => counts[table] !== manifest.counts[table],
  );
  if (schema !== manifest.schema || differs.length > 0)
    throw new StoreFault(
      "damaged",
      `${path} doesn't hold what was counted in it (${differs.join(", ") || "schema"}).`,
    );
}
