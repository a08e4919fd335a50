import { lstatSync, readlinkSync, symlinkSync, unlinkSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { loadKeyRing } from "../ground/kit/key-ring.ts";
import { StoreFault } from "../ground/store/faults.ts";

/**
 * Makes the key file of a data directory a link to `file`, which lies elsewhere: a mounted secret. So each command on the
 * directory finds it, and no copy of it is on the volume. Throws StoreFault where it can't be used: a box must not make
 * another key in its place.
 */
export function linkKeyFile(data: string, file: string): void {
  const [to, link] = [resolve(file), join(data, "box.key")];
  const { ring, faults } = loadKeys(to);
  if (ring === null) {
    const [{ problem } = { problem: "missing" }] = faults;
    throw misconfigured(`--key-file ${file} is ${problem.replaceAll("_", " ")}: nothing was made.`);
  }
  const there = lstatSync(link, { throwIfNoEntry: false });
  if (there !== undefined && !there.isSymbolicLink())
    throw misconfigured(
      `${link} is there already: make its content the content of ${file}, and move it away. Without it stored credentials can't be opened.`,
    );
  if (there !== undefined && readlinkSync(link) === to) return;
  if (there !== undefined) unlinkSync(link);
  symlinkSync(to, link);
}

const misconfigured = (sentence: string) => new StoreFault("misconfigured", sentence);

function loadKeys(file: string): ReturnType<typeof loadKeyRing> {
  try {
    return loadKeyRing(dirname(file), basename(file));
  } catch {
    return { ring: null, faults: [] };
  }
}
