import { rmSync } from "node:fs";
import { besidePackages, bundlePackages, bundleProgram } from "./bundle.ts";

/*
 * More than a hundred processes make up the suite, and reading the tree's and its packages' files one by
 * one takes each of them a second. The runner makes what they share once.
 */
const directory = besidePackages();

export async function globalSetup(): Promise<void> {
  await Promise.all([bundleProgram(directory), bundlePackages(directory)]);
  process.env["BOX_TEST_SHARED"] = directory;
}

export function globalTeardown(): void {
  rmSync(directory, { recursive: true, force: true });
}
