import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../ground/kit/clock.ts";
import { fileFault } from "../../ground/kit/file-fault.ts";
import { UsageError } from "../../ground/kit/flags.ts";
import { addKey, loadKeyRing, rotateKey } from "../../ground/kit/key-ring.ts";
import type { Random } from "../../ground/kit/random.ts";
import { ringSealer } from "../../ground/kit/sealer.ts";
import { resealAll } from "../../ground/store/sealed.ts";
import { mustExist, openStore, type Store } from "../../ground/store/store.ts";
import { type LostCredential, lostCredentials } from "../operate/lost-credentials.ts";

/** The operator's work on the keys of a data directory, also while a box serves it (contract §10). */
export interface OfflineKeyFile {
  data: string;
  clock: Clock;
  random: Random;
}

const KEY_FILE = "box.key";

/**
 * Makes a new key the present one and seals everything stored with it. The old keys stay in files of their own, because
 * backups are sealed with them. It can be interrupted: every value can still be opened. Throws UsageError where
 * `box.key` isn't usable, StoreFault.
 */
export function rotateKeyFile(desk: OfflineKeyFile): {
  key_id: string;
  resealed: number;
  unreadable: number;
} {
  return withStore(desk, (store) => {
    const file = join(desk.data, KEY_FILE);
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new UsageError(
        `${file} is a link to ${readlinkSync(file)}: put 32 new random bytes before the old ones there, start the box again, and keep both until no backup needs the old ones.`,
      );
    const id = rotateKey(desk.data, KEY_FILE, desk.random);
    const ring = loadKeyRing(desk.data, KEY_FILE, desk.random).ring;
    if (id === null || ring === null)
      throw new UsageError(
        `${file} holds no usable key: put it back, or start the box, which makes one.`,
      );
    return { key_id: id, ...resealAll(store, ringSealer(ring)) };
  });
}

/**
 * Adds the keys of a key file, so that values sealed with them can be opened again. `unreadable`: the rows that still
 * can't be. Throws UsageError for a file without keys, StoreFault.
 */
export function addKeyFile(
  desk: OfflineKeyFile,
  file: string,
): { key_ids: string[]; unreadable: LostCredential[] } {
  return withStore(desk, (store) => {
    const ids = addKey(desk.data, KEY_FILE, readKeyFile(file), desk.random);
    if (ids === null)
      throw new UsageError(`${file} is no key file: it holds no whole number of 32-byte keys.`);
    const ring = loadKeyRing(desk.data, KEY_FILE, desk.random).ring;
    return {
      key_ids: ids,
      unreadable: ring === null ? [] : lostCredentials(store, ringSealer(ring)),
    };
  });
}

function readKeyFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file}: ${fileFault(error)}`);
  }
}

function withStore<T>({ data, clock, random }: OfflineKeyFile, use: (store: Store) => T): T {
  const path = join(data, "box.db");
  mustExist(path);
  const store = openStore({ path, kind: "box", clock, random, older: "refuse" });
  try {
    return use(store);
  } finally {
    store.close();
  }
}
