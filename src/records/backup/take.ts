import { existsSync, lstatSync, realpathSync, renameSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Clock } from "../../ground/kit/clock.ts";
import { keyFileBytes, loadKeyRing } from "../../ground/kit/key-ring.ts";
import { openReadOnly, openSqlite } from "../../ground/store/database.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import { syncDirectory, withAside, writeSynced } from "../../ground/store/files.ts";
import { checkHeader } from "../../ground/store/header.ts";
import { isLocked } from "../../ground/store/lock.ts";
import { mustBeServed } from "../../ground/store/record/mark.ts";
import { type Manifest, manifestBeside, takeSnapshot } from "../../ground/store/snapshot.ts";
import { mustExist } from "../../ground/store/store.ts";
import type { Place } from "./place.ts";

/** A directory with one of these is a data directory. */
const MARKS = ["box.db", "box.key", "hosted.db", "hosted.key", "serve.lock"];
/** Names of files that the program makes or looks for in a data directory. */
const OWN_NAME = /^((box|hosted)\.(db|key)|serve\.lock|[0-9a-f]{16}\.db)/;

/**
 * Throws where a backup must not be written: where a file exists (unless `replace`), over a file of a data directory,
 * or under a name that the program uses there. Writes nothing. Throws StoreFault.
 */
function mustBeFree(
  file: string,
  { withKey, replace }: { withKey: boolean; replace: boolean },
): void {
  const { present, next } = manifestBeside(file);
  const written = [file, present, next, ...(withKey ? [`${file}.key`] : [])];
  const inTheWay = written.find((name) => isThere(name));
  const directory = written.find((name) =>
    statSync(name, { throwIfNoEntry: false })?.isDirectory(),
  );
  if (directory !== undefined) throw refusal(`${directory} is a directory`, "name a file");
  if (isInDataDirectory(file)) {
    const own = written.find((name) => OWN_NAME.test(basename(name)));
    const taken = own ?? inTheWay;
    if (taken === undefined) return;
    throw refusal(
      `${taken} is a name in a data directory that a backup must not take`,
      "name another file",
    );
  }
  if (inTheWay === undefined || replace) return;
  throw refusal(`${inTheWay} exists already`, "name another file, or overwrite it with --replace");
}

function refusal(why: string, advice: string): StoreFault {
  return new StoreFault("unavailable", `${why}: ${advice}. Nothing was written.`);
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** A hosted tenant's store lies one directory deeper. */
function isInDataDirectory(file: string): boolean {
  if (!existsSync(dirname(file))) return false;
  const directory = realpathSync(dirname(file));
  const places = basename(directory) === "tenants" ? [directory, dirname(directory)] : [directory];
  return places.some((place) => MARKS.some((mark) => isThere(join(place, mark))));
}

/** The result of a backup. */
export interface Taken extends Manifest {
  file: string;
  /** Where the keys were written; null when they weren't asked for. */
  key_file: string | null;
}

/**
 * Writes a proved copy of a store to FILE and FILE.json, and its keys to FILE.key if asked to, also while a box serves
 * the store. Throws StoreFault.
 */
export function takeBackup(options: {
  place: Place;
  file: string;
  withKey: boolean;
  /** Whether an existing file may be overwritten. A file in a data directory never is. */
  replace?: boolean;
  clock: Clock;
}): Taken {
  const { place, clock, withKey, replace = false } = options;
  const file = resolve(options.file);
  mustBeServed(place.data);
  mustExist(place.path);
  mustBeFree(file, { withKey, replace });
  const keys = withKey ? keysOf(place) : null;
  checkHeader(place.path, place.kind);
  const db = openReadOnly(place.path);
  let manifest: Manifest;
  try {
    const isServing = isLocked(place.data);
    manifest = takeSnapshot({ db, kind: place.kind, to: file, clock, isServing });
  } finally {
    db.close();
  }
  const key_file = keys === null ? null : `${file}.key`;
  if (keys !== null) writeWhole(`${file}.key`, keys);
  return { ...manifest, file, key_file };
}

function keysOf({ data, keyName }: Place): Buffer {
  const { ring, faults } = loadKeyRing(data, keyName);
  const why = faults.map(({ file, problem }) => ` (${file}: ${problem})`).join("");
  if (ring === null)
    throw new StoreFault("unavailable", `${join(data, keyName)} holds no usable key${why}.`);
  return keyFileBytes(ring);
}

function writeWhole(path: string, bytes: Buffer): void {
  withAside(path, (aside) => {
    const made = join(aside, "made");
    writeSynced(made, bytes);
    renameSync(made, path);
    syncDirectory(dirname(path));
  });
}

/** Records in a store that no other process serves when its last proved copy was made, for readiness and the doctor. */
export function rememberBackup({ path, kind }: Place, at: number): void {
  if (kind !== "box") return;
  const db = openSqlite(path);
  try {
    db.prepare(
      "INSERT INTO meta (key, value) VALUES ('last_backup', ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
    ).run(at);
  } finally {
    db.close();
  }
}
