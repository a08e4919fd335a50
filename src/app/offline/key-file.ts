import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { auditAction, operator } from "../../ground/audit/record.ts";
import { fileFault } from "../../ground/kit/file-fault.ts";
import { UsageError } from "../../ground/kit/flags.ts";
import { addKey, loadKeyRing, rotateKey } from "../../ground/kit/key-ring.ts";
import { ringSealer } from "../../ground/kit/sealer.ts";
import { readMark } from "../../ground/store/record/mark.ts";
import { resealAll } from "../../ground/store/sealed.ts";
import { openReader } from "../../ground/store/store.ts";
import { lostCredentials } from "../operate/lost-credentials.ts";
import type { Directory } from "../operate/status.ts";
import type { OpenDirectory } from "./directory.ts";

/** The operator's work on the keys of a data directory (contract §10). */

const KEY_FILE = "box.key";

/**
 * Makes a new key the present one and seals everything stored with it. The old keys stay in files of their own, because
 * backups are sealed with them. It can be interrupted: every value can still be opened. Throws UsageError where
 * `box.key` isn't usable.
 */
export async function rotateKeyFile({ data, store, random, sealer }: OpenDirectory): Promise<{
  key_id: string;
  resealed: number;
  unreadable: number;
}> {
  const file = join(data, KEY_FILE);
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new UsageError(
      `${file} is a link to ${readlinkSync(file)}: put 32 new random bytes before the old ones there, start the box again, and keep both until no backup needs the old ones.`,
    );
  if (readMark(data)?.hasOthers)
    throw new UsageError(
      `Another machine stands by, and couldn't take the box over without the new key: stop it, rotate the key here, copy ${KEY_FILE} and ${KEY_FILE}.* there, and start it.`,
    );
  const id = rotateKey(data, KEY_FILE, random);
  // What is stored meanwhile is sealed with the new key, too.
  sealer?.readAgain();
  const ring = loadKeyRing(data, KEY_FILE, random).ring;
  if (id === null || ring === null)
    throw new UsageError(
      `${file} holds no usable key: put it back, or start the box, which makes one.`,
    );
  auditAction(store, operator("key-file rotate"));
  return { key_id: id, ...(await resealAll(store, ringSealer(ring))) };
}

/**
 * Adds the keys of a key file, so that values sealed with them can be opened again. `unreadable`: the rows that still
 * can't be; null where another machine has the box's present storage. Throws UsageError for a file without keys,
 * StoreFault.
 */
export function addKeyFile({ data, clock, random }: Directory, file: string) {
  const add = () => {
    const ids = addKey(data, KEY_FILE, readKeyFile(file), random);
    if (ids !== null) return ids;
    throw new UsageError(`${file} is no key file: it holds no whole number of 32-byte keys.`);
  };
  if (readMark(data)?.isOlder) return { key_ids: add(), unreadable: null };
  const reader = openReader({
    path: join(data, "box.db"),
    kind: "box",
    clock,
    random,
    older: "refuse",
  });
  try {
    const ids = add();
    const ring = loadKeyRing(data, KEY_FILE, random).ring;
    const unreadable = ring === null ? [] : lostCredentials(reader, ringSealer(ring));
    return { key_ids: ids, unreadable };
  } finally {
    reader.close();
  }
}

function readKeyFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file}: ${fileFault(error)}`);
  }
}
