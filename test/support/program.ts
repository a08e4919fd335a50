import { resolve } from "node:path";
import type { Program } from "../../src/app/prove/scratch-box.ts";
import { besidePackages, bundleProgram } from "./bundle.ts";
import { programFileIn, shared } from "./shared.ts";

let made: Promise<string> | null = null;

/** This tree's program in one file, for a Node process of its own: the whole suite's, or one for this process. */
export async function programFile(): Promise<string> {
  if (shared) return programFileIn(shared);
  made ??= bundleProgram(besidePackages());
  return made;
}

/** The words that start this tree's program. `BOX_EXECUTABLE` names a built executable to take instead. */
export async function program(): Promise<Program> {
  const given = process.env["BOX_EXECUTABLE"];
  return given ? [resolve(given)] : [process.execPath, await programFile()];
}
