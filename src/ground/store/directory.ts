import { chmodSync, lstatSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../kit/make-directory.ts";
import { giveToOwner, isRootAbroad } from "../kit/owner.ts";
import { StoreFault } from "./faults.ts";

/** Makes a missing directory (0700). One that root makes gets its parent's owner. Throws StoreFault. */
export function prepareDirectory(directory: string): void {
  try {
    if (makeDirectory(directory).isNew) giveToOwner(directory);
    else if (isRootAbroad(dirname(directory))) mustBeDirectory(directory);
    if ((statSync(directory).mode & 0o077) !== 0) chmodSync(directory, 0o700);
  } catch (error) {
    throw StoreFault.from(error, directory);
  }
}

function mustBeDirectory(directory: string): void {
  if (lstatSync(directory).isDirectory()) return;
  throw new StoreFault("foreign", `${directory} is a link, which root doesn't follow.`);
}
