import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { after, before, describe } from "node:test";
import { account, spent } from "./account.ts";

const root = join(import.meta.dirname, "../..");
const require = createRequire(import.meta.url);

/**
 * Runs test files, given by their absolute paths, one after the other in this process. Each is a suite
 * with the file's name, so that what it says before and after its tests is for its own alone. They are
 * loaded while their suite is built, which is why none may wait (top-level `await`).
 */
export function together(files: readonly string[]): void {
  for (const file of files)
    describe(relative(root, file), () => {
      const loading = spent();
      let from = loading;
      before(() => {
        from = spent();
      });
      after(() => account(file, from));
      require(file);
      account(`load ${relative(root, file)}`, loading);
    });
}
