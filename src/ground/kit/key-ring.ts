import { hash } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { giveOpenFile, isPlain, isRootAbroad, READ_PLAIN } from "./owner.ts";
import { type Random, systemRandom } from "./random.ts";

/**
 * The keys that stored secrets are sealed under, in files (contract §2, §10):
 *
 * - `box.key`: 32 random bytes, made at the first start; a copy made with a backup may hold several
 *   keys one after the other, the present one first.
 * - `box.key.<key id>`: one more key. A key made because `box.key` was lost goes here, so that the
 *   old file put back replaces nothing; and so does an old key that is added.
 */

export interface SealingKey {
  /** 16 hex characters of a hash of the key: says which it is, tells nothing about it. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface KeyRing {
  /** What new values are sealed under. */
  readonly present: SealingKey;
  readonly keys: ReadonlyMap<string, SealingKey>;
  readonly random: Random;
}

/** A key file that can't be used, and why. */
export interface KeyFileFault {
  readonly file: string;
  /** `too_open`: others may read it (mode); `bad_length`: not 32 bytes a key. */
  readonly problem: "too_open" | "bad_length" | "unreadable";
}

export interface LoadedKeys {
  /** null when there is no usable key. */
  readonly ring: KeyRing | null;
  readonly faults: readonly KeyFileFault[];
}

const KEY_BYTES = 32;
/** In one file: whatever holds more is no key file. */
const MOST_KEYS = 64;

/** Reads the key files of a data directory; makes none. Never throws for what a file holds. */
export function loadKeyRing(dir: string, name: string, random: Random = systemRandom): LoadedKeys {
  const faults: KeyFileFault[] = [];
  const found: SealingKey[] = [];
  for (const file of keyFiles(dir, name)) {
    const keys = readKeys(join(dir, file));
    if (typeof keys === "string") faults.push({ file, problem: keys });
    else found.push(...keys);
  }
  const [present] = found;
  if (present === undefined) return { ring: null, faults };
  const keys = new Map(found.map((key) => [key.id, key]));
  return { ring: { present, keys, random }, faults };
}

export interface OpenedKeys {
  readonly ring: KeyRing;
  readonly faults: readonly KeyFileFault[];
  /** Key ids that stored values name and no file holds: those values must be entered again. */
  readonly missing: readonly string[];
}

/**
 * The keys to work with, whatever the files hold: where no key is usable one is made, on disk before
 * this returns. `inUse` are the key ids that stored values name. While they name a lost key, the
 * key for later values stands in a file of its own, so that the old `box.key` put back opens both.
 * Throws what the file system throws.
 */
export function openKeyRing(options: {
  dir: string;
  name: string;
  inUse: readonly string[];
  random?: Random;
}): OpenedKeys {
  const { dir, name, inUse, random = systemRandom } = options;
  const { ring: loaded, faults } = loadKeyRing(dir, name, random);
  const nameIsFree = !faults.some(({ file }) => file === name);
  const lost = inUse.some((id) => loaded?.keys.has(id) !== true);
  if (loaded === null || lost) {
    const key = loaded?.present ?? sealingKey(random.bytes(KEY_BYTES));
    const file = nameIsFree && !lost ? name : `${name}.${key.id}`;
    writeOnce({ dir, file, bytes: key.bytes, random });
  }
  // Read back: of two processes at their first start one made the file.
  const { ring } = loadKeyRing(dir, name, random);
  if (ring === null) throw new Error(`${join(dir, name)}: made a key and could not read it back`);
  return { ring, faults, missing: inUse.filter((id) => !ring.keys.has(id)) };
}

/**
 * Adds the keys of a key file (its bytes) to the directory, each in a file of its own, and answers
 * their ids; a key that is there already changes nothing. null when the bytes are no keys.
 */
export function addKey(
  dir: string,
  name: string,
  bytes: Buffer,
  random: Random = systemRandom,
): string[] | null {
  const keys = splitKeys(bytes);
  if (keys === null) return null;
  const known = loadKeyRing(dir, name, random).ring?.keys;
  for (const key of keys) {
    if (known?.has(key.id)) continue;
    writeOnce({ dir, file: `${name}.${key.id}`, bytes: key.bytes, random });
  }
  return keys.map(({ id }) => id);
}

/**
 * Makes a new key the present one and answers its id; every key that `name` held stands in a file of
 * its own first, so that a death at any point loses none. null where `name` holds no usable key:
 * an old file put back there would take the new key's place.
 */
export function rotateKey(dir: string, name: string, random: Random = systemRandom): string | null {
  const keys = readKeys(join(dir, name));
  if (typeof keys === "string") return null;
  for (const { id, bytes } of keys) writeOnce({ dir, file: `${name}.${id}`, bytes, random });
  const fresh = sealingKey(random.bytes(KEY_BYTES));
  const aside = writeAside({ dir, file: name, bytes: fresh.bytes, random });
  renameSync(aside, join(dir, name));
  syncDirectory(dir);
  return fresh.id;
}

/** The ring as the bytes of one key file, for a backup that is asked to hold it. */
export function keyFileBytes(ring: KeyRing): Buffer {
  const others = [...ring.keys.values()].filter(({ id }) => id !== ring.present.id);
  return Buffer.concat([ring.present, ...others].map(({ bytes }) => bytes));
}

/** The ids of the ring's keys, the present one first. */
export function keyIds(ring: KeyRing): string[] {
  return [ring.present.id, ...[...ring.keys.keys()].filter((id) => id !== ring.present.id)];
}

/** `name` first, because its key is the present one, then the others, the newest first. */
function keyFiles(dir: string, name: string): string[] {
  const prefix = `${name}.`;
  const beside = readdirSync(dir)
    .filter((file) => file.startsWith(prefix) && /^[0-9a-f]{16}$/.test(file.slice(prefix.length)))
    .map((file) => ({ file, at: lstatSync(join(dir, file)).mtimeMs }))
    .sort((a, b) => b.at - a.at || (a.file < b.file ? -1 : 1))
    .map(({ file }) => file);
  return readdirSync(dir).includes(name) ? [name, ...beside] : beside;
}

function readKeys(path: string): SealingKey[] | KeyFileFault["problem"] {
  try {
    const fd = openSync(path, isRootAbroad(dirname(path)) ? READ_PLAIN : "r");
    try {
      const found = fstatSync(fd);
      if (!isPlain(found, found.uid)) return "unreadable";
      // Like ssh: a key that others can read is no key.
      if ((found.mode & 0o077) !== 0) return "too_open";
      return splitKeys(readFileSync(fd)) ?? "bad_length";
    } finally {
      closeSync(fd);
    }
  } catch {
    return "unreadable";
  }
}

function splitKeys(bytes: Buffer): SealingKey[] | null {
  const count = bytes.length / KEY_BYTES;
  if (count < 1 || count > MOST_KEYS || !Number.isInteger(count)) return null;
  const keys: SealingKey[] = [];
  for (let from = 0; from < bytes.length; from += KEY_BYTES) {
    keys.push(sealingKey(bytes.subarray(from, from + KEY_BYTES)));
  }
  return keys;
}

function sealingKey(bytes: Buffer): SealingKey {
  const named = Buffer.concat([Buffer.from("box sealing key\0"), bytes]);
  return { id: hash("sha256", named, "hex").slice(0, 16), bytes };
}

interface KeyWrite {
  dir: string;
  file: string;
  bytes: Buffer;
  random: Random;
}

/**
 * Writes a file that is there whole or not at all, whenever the process or the power goes, and
 * never over another: written aside, synced, then linked to its name, and the directory synced.
 */
function writeOnce(write: KeyWrite): void {
  const aside = writeAside(write);
  try {
    linkSync(aside, join(write.dir, write.file));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    unlinkSync(aside);
  }
  syncDirectory(write.dir);
}

/** The path of a synced file beside the one that is meant. */
function writeAside({ dir, file, bytes, random }: KeyWrite): string {
  const aside = join(dir, `.${file}.${random.bytes(6).toString("hex")}`);
  const fd = openSync(aside, "wx", 0o600);
  try {
    giveOpenFile(fd, dir);
    writeSync(fd, bytes);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  return aside;
}

function syncDirectory(dir: string): void {
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
