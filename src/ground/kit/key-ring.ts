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
  type Stats,
  unlinkSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { giveOpenFile, isPlain, isRootAbroad, READ_PLAIN } from "./owner.ts";
import { type Random, systemRandom } from "./random.ts";

/**
 * The keys that encrypt stored secrets, in files (contract §2, §10):
 * - `box.key`: 32 random bytes, made at the first start. A copy from a backup may hold several keys, the present one
 *   first.
 * - `box.key.<key id>`: one more key. It is an old key that was added, or a new one that was made because `box.key` was
 *   lost; so restoring the old `box.key` overwrites nothing.
 */

export interface SealingKey {
  /** 16 hex characters of a hash of the key. They identify the key and reveal nothing of it. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface KeyRing {
  /** The key for new values. */
  readonly present: SealingKey;
  readonly keys: ReadonlyMap<string, SealingKey>;
  readonly random: Random;
}

/** A key file that can't be used, and why. */
export interface KeyFileFault {
  readonly file: string;
  /** `too_open`: other users may read the file. `bad_length`: its size is no multiple of 32 bytes. */
  readonly problem: "too_open" | "bad_length" | "unreadable";
}

interface LoadedKeys {
  /** null when there is no usable key. */
  readonly ring: KeyRing | null;
  readonly faults: readonly KeyFileFault[];
}

const KEY_BYTES = 32;
/** Keys in one file. A file with more is no key file. */
const MOST_KEYS = 64;

/** Reads the key files of a data directory, and makes none. Never throws because of a file's content. */
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
  /** Key ids that stored values name and that no file holds. Those values must be entered again. */
  readonly missing: readonly string[];
}

/**
 * Loads the keys, and makes one where none is usable; that one is on the disk before this returns. `inUse`: the key ids
 * that stored values name. While they name a lost key, a new key gets a file of its own, so that the old `box.key` can
 * be restored beside it. Throws the file system's errors.
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
  // Read again: another process may have made the file at the same time.
  const { ring } = loadKeyRing(dir, name, random);
  if (ring === null) throw new Error(`${join(dir, name)}: made a key and could not read it back`);
  return { ring, faults, missing: inUse.filter((id) => !ring.keys.has(id)) };
}

/**
 * Adds the keys of a key file (its bytes) to the directory, each in a file of its own. Returns their ids; null when the
 * bytes are no keys. A key that is there already changes nothing.
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
 * Makes a new key the present one and returns its id. Before that, every key in `name` gets a file of its own, so a
 * crash loses none. null where `name` holds no usable key: restoring the old file would then overwrite the new key.
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

/** The ring as the bytes of one key file, for a backup that includes it. */
export function keyFileBytes(ring: KeyRing): Buffer {
  const others = [...ring.keys.values()].filter(({ id }) => id !== ring.present.id);
  return Buffer.concat([ring.present, ...others].map(({ bytes }) => bytes));
}

/** `name` first, since it holds the present key; then the others, the newest first. */
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
      if ((found.mode & (isLent(found) ? 0o037 : 0o077)) !== 0) return "too_open";
      return splitKeys(readFileSync(fd)) ?? "bad_length";
    } finally {
      closeSync(fd);
    }
  } catch {
    return "unreadable";
  }
}

/**
 * A key that other users can read isn't used, as ssh does. One that root gives to this process's group to read is, as
 * PostgreSQL does: Kubernetes and others mount secrets so.
 */
const isLent = ({ uid }: Stats) => uid === 0 && process.geteuid?.() !== 0;

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
 * Writes a file completely or not at all, and never over another one: written and synced under another name, then
 * linked to its name, and the directory synced.
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

/** Returns the path of the synced file, which lies beside its later name. */
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
