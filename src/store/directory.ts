import { chmodSync, mkdirSync, statSync } from "node:fs";
import { StoreFault } from "./faults.ts";

/** Makes the directory (0700) if need be. Throws StoreFault where that can't be. */
export function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
  } catch (error) {
    throw StoreFault.from(error, directory);
  }
}
