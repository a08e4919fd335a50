import {
  chmodSync,
  closeSync,
  copyFileSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFile } from "../../src/ground/store/create.ts";
import type { StoreKind } from "../../src/ground/store/database.ts";
import { handClock } from "./clock.ts";
import { memoryOrTemp } from "./memory.ts";
import { shared } from "./shared.ts";

const BALLAST_BYTES = 16 * 1024 * 1024;
let made: string | null = null;

/**
 * A new data directory, as a first start finds it that was killed once its store had its schema: to run every migration and
 * to write the reserve took most of what a test's box costs. A first start from nothing is what test/ground/store and each box
 * in a process of its own begin with.
 */
export function newData(prefix: string): string {
  const directory = mkdtempSync(join(memoryOrTemp(), prefix));
  emptyStoreAt(join(directory, "box.db"));
  // Of no bytes but the last: full disks are tested elsewhere (test/faults).
  const ballast = openSync(join(directory, "ballast"), "wx", 0o600);
  ftruncateSync(ballast, BALLAST_BYTES);
  closeSync(ballast);
  return directory;
}

/** A box's store at `path`, with its schema and nothing in it: in a hundredth of the time that its migrations take. */
export function emptyStoreAt(path: string): void {
  copyFileSync(emptyStore(), path);
  chmodSync(path, 0o600);
}

/** A directory with the store of a role that was served there, and was given nothing yet. */
export function servedBefore(data: string, kind: StoreKind): string {
  mkdirSync(data, { recursive: true, mode: 0o700 });
  createFile({ path: join(data, `${kind}.db`), kind, clock: handClock() });
  return data;
}

/** A store with its schema and nothing in it: one for the whole suite, or for this process. */
function emptyStore(): string {
  if (made !== null) return made;
  const directory = shared ?? mkdtempSync(join(tmpdir(), "box-empty-"));
  if (shared === undefined)
    process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "empty.db");
  createFile({ path, kind: "box", clock: handClock() });
  made = path;
  return path;
}
