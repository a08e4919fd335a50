import {
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, unixSeconds } from "../../ground/kit/clock.ts";
import { addKey } from "../../ground/kit/key-ring.ts";
import { makeDirectory } from "../../ground/kit/make-directory.ts";
import { giveToOwner } from "../../ground/kit/owner.ts";
import { openReadOnly, openSqlite } from "../../ground/store/database.ts";
import { StoreFault } from "../../ground/store/faults.ts";
import {
  dropLeftovers,
  freeBytes,
  othersIn,
  syncDirectory,
  syncFile,
  withAside,
  writeSynced,
} from "../../ground/store/files.ts";
import { lockDirectory } from "../../ground/store/lock.ts";
import { migrations } from "../../ground/store/migrations.ts";
import { mustBeAlone } from "../../ground/store/record/mark.ts";
import type { Manifest } from "../../ground/store/snapshot.ts";
import type { Place } from "./place.ts";
import { openReplaced, type Pending, type PendingRows, settle } from "./restored.ts";
import { checkBytes, checkInside, isReplaced, readManifest } from "./verify.ts";

interface RestoreOptions {
  place: Place;
  /** FILE; FILE.json lies beside it. */
  file: string;
  /** Whether an existing store may be moved aside. */
  replace: boolean;
  pending: Pending;
  clock: Clock;
}

export interface Restored {
  /** The path of the store. */
  store: string;
  manifest: Manifest;
  /** Where the replaced files are kept; null when there were none. */
  kept_aside: string | null;
  /** Whether FILE.key was there. Its keys are then in the data directory. */
  keys: boolean;
  /** What waited to be sent when the backup was made. */
  pending: PendingRows;
}

/**
 * Puts a backup in the place of a store that no box serves. Everything is checked and prepared beside the store first,
 * so a damaged backup, a running box or a crash leaves the old store unchanged. Throws StoreFault.
 */
export function restoreBackup(options: RestoreOptions): Restored {
  const { place, file } = options;
  const manifest = readManifest(file);
  const keys = readKeys(file);
  mustFit(manifest, place);
  mustBeAlone(
    place.data,
    "its database would undo the restore. Restore into an empty directory, and serve that with an empty database",
  );
  prepare(dirname(place.path), file);
  if (!options.replace) mustBeEmpty(place);
  const unlock = lockDirectory(place.data);
  try {
    dropLeftovers(dirname(place.path), (name) => name === basename(place.path));
    mustHaveRoom(manifest, place);
    return withAside(place.path, (aside) => {
      const staged = join(aside, "restored.db");
      const pending = stage(staged, manifest, options);
      // Keys first: the store is useless without them, should the process be killed in between.
      const isKeyed = putKeys(place, keys);
      const kept_aside = swap(staged, options);
      return { store: place.path, manifest, kept_aside, keys: isKeyed, pending };
    });
  } catch (error) {
    throw StoreFault.from(error, place.path);
  } finally {
    unlock();
  }
}

function mustFit(manifest: Manifest, { kind, path }: Place): void {
  if (manifest.kind !== kind)
    throw new StoreFault("foreign", `The backup is of a ${manifest.kind} store, ${path} is not.`);
  const known = migrations(kind).length;
  if (manifest.schema > known)
    throw new StoreFault(
      "newer",
      `The backup has schema ${manifest.schema}; this program knows ${known}. Restore it with the newer program: nothing was changed.`,
    );
}

function prepare(directory: string, file: string): void {
  try {
    statSync(file);
    makeDirectory(directory);
  } catch (error) {
    throw StoreFault.from(error, directory);
  }
}

function mustBeEmpty({ data, path }: Place): void {
  const others = othersIn(dirname(path));
  const isInTheWay = dirname(path) === data ? others.length > 0 : existsSync(path);
  if (!isInTheWay) return;
  throw new StoreFault(
    "unavailable",
    `${dirname(path)} isn't empty (${others.slice(0, 5).join(", ")}). With --replace the store there is moved aside first.`,
  );
}

const SPARE = 16 * 1024 * 1024;

function mustHaveRoom({ size }: Manifest, { path }: Place): void {
  const needed = size + SPARE;
  const free = freeBytes(dirname(path));
  if (free === null || free >= needed) return;
  throw new StoreFault(
    "io",
    `The restore needs ${needed} bytes free in ${dirname(path)}; there are ${free}. Nothing was changed.`,
  );
}

/** The copy beside the store: checked against FILE.json, adapted, and with a write-ahead log. */
function stage(staged: string, manifest: Manifest, options: RestoreOptions): PendingRows {
  const { place, clock, pending } = options;
  copyFileSync(options.file, staged, constants.COPYFILE_FICLONE);
  checkStaged(staged, manifest, options.file);
  const found = existsSync(place.path) ? openReplaced(place.path) : null;
  const replaced = found?.tenantId === manifest.tenant_id ? found : null;
  const db = openSqlite(staged);
  try {
    if (place.kind !== "box") return { kept: 0, dropped: 0 };
    return settle(db, {
      pending,
      wasServing: manifest.serving,
      takenAt: manifest.taken_at,
      now: unixSeconds(clock),
      replaced,
    });
  } finally {
    db.close();
    found?.close();
    syncFile(staged);
  }
}

function checkStaged(staged: string, manifest: Manifest, file: string): void {
  try {
    checkBytes(staged, manifest);
    checkInside(staged, manifest);
  } catch (error) {
    if (!isReplaced(file, manifest)) throw error;
    throw new StoreFault(
      "unavailable",
      `${file} was replaced by another backup while it was read: run this again. Nothing was changed.`,
    );
  }
}

/**
 * Gives the prepared file the store's name. Before that, the old store's log is moved into the old file, which keeps
 * its name until the rename. A crash leaves the old store or the new one.
 */
function swap(staged: string, { place, clock }: RestoreOptions): string | null {
  const { path } = place;
  const there = ["", "-wal", "-shm", "-journal"].filter((end) => existsSync(path + end));
  if (there.length === 0) {
    giveName(staged, path);
    return null;
  }
  const aside = freshDirectory(dirname(path), clock);
  moveLogIn(path);
  for (const end of there) {
    if (!existsSync(path + end)) continue;
    const kept = join(aside, basename(path) + end);
    if (end === "") linkSync(path, kept);
    else renameSync(path + end, kept);
  }
  syncDirectory(aside);
  giveName(staged, path);
  return aside;
}

function giveName(made: string, path: string): void {
  giveToOwner(made, dirname(path));
  renameSync(made, path);
  syncDirectory(dirname(path));
}

/** `replaced-2026-01-05T09-00-00Z`, with a number where that name exists. */
export function freshDirectory(parent: string, clock: Clock): string {
  const stamp = new Date(unixSeconds(clock) * 1000).toISOString().replace(".000", "");
  const name = `replaced-${stamp.replaceAll(":", "-")}`;
  for (let n = 1; ; n++) {
    const directory = join(parent, n === 1 ? name : `${name}-${n}`);
    if (existsSync(directory)) continue;
    mkdirSync(directory, { mode: 0o700 });
    giveToOwner(directory);
    return directory;
  }
}

/** A damaged store keeps its log, and both are moved aside. */
function moveLogIn(path: string): void {
  if ((statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) return;
  try {
    if (isWhole(path)) openSqlite(path).close();
  } catch {
    // A store that can't be opened is probably the reason for the restore.
  }
}

function isWhole(path: string): boolean {
  const db = openReadOnly(path);
  try {
    return db.pragma("quick_check(1)", { simple: true }) === "ok";
  } finally {
    db.close();
  }
}

const KEY_BYTES = 32;

/** FILE.key's bytes; null where there is none. Throws StoreFault for a file without keys. */
function readKeys(file: string): Buffer | null {
  const path = `${file}.key`;
  if (!existsSync(path)) return null;
  const bytes = readFileSync(path);
  if (bytes.length > 0 && bytes.length % KEY_BYTES === 0) return bytes;
  throw new StoreFault("damaged", `${path} holds no keys. Nothing was changed.`);
}

/** Adds keys and overwrites none, so values sealed with the old keys can still be opened. */
function putKeys({ data, keyName }: Place, bytes: Buffer | null): boolean {
  if (bytes === null) return false;
  const path = join(data, keyName);
  if (existsSync(path)) addKey(data, keyName, bytes);
  else
    withAside(path, (aside) => {
      const made = join(aside, "made");
      writeSynced(made, bytes);
      giveName(made, path);
    });
  return true;
}
