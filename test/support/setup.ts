import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bundleConsole } from "../../systemd/console.mjs";
import { besidePackages, bundlePackages, bundleProgram, bundleThreads } from "./bundle.ts";
import { suiteMemory } from "./memory.ts";

/*
 * More than a hundred processes make up the suite, and reading the tree's and its packages' files one by
 * one takes each of them a second. The runner makes what they share once. What they write goes to one
 * temporary directory, so that nothing is left by those that are killed either.
 */
export const directory = besidePackages();
const temporary = mkdtempSync(join(tmpdir(), "box-suite-"));
const memory = suiteMemory(temporary);

export async function globalSetup(): Promise<void> {
  // Some tests do things as another user.
  for (const made of [temporary, memory]) chmodSync(made, 0o755);
  const root = join(import.meta.dirname, "../..");
  await Promise.all([
    bundleProgram(directory),
    bundleThreads(directory),
    bundlePackages(directory),
    bundleConsole(root),
  ]);
  process.env["TMPDIR"] = temporary;
  // While this process lives, what was started for the whole run does.
  process.env["BOX_TEST_RUNNER"] = String(process.pid);
  process.env["BOX_TEST_MEMORY"] = memory;
  process.env["BOX_TEST_SHARED"] = directory;
  // The program is started some hundred times: from compiled code in half the time.
  process.env["NODE_COMPILE_CACHE"] = join(directory, "compiled");
}

export function globalTeardown(): void {
  for (const made of [directory, temporary, memory]) rmSync(made, { recursive: true, force: true });
}
