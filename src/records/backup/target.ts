import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { StoreFault } from "../../ground/store/faults.ts";
import { manifestBeside } from "../../ground/store/snapshot.ts";

/** A directory with one of these is a data directory. */
const MARKS = ["box.db", "box.key", "hosted.db", "hosted.key", "serve.lock"];
/** Names of files that the program makes or looks for in a data directory. */
const OWN_NAME = /^((box|hosted)\.(db|key)|serve\.lock|[0-9a-f]{16}\.db)/;

/**
 * Throws where a backup must not be written: where a file exists (unless `replace`), over a file of a data directory,
 * or under a name that the program uses there. Writes nothing. Throws StoreFault.
 */
export function mustBeFree(
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
