import { enableCompileCache, registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { followTests } from "./follow.ts";
import { PACKAGES, packageFile, shared } from "./shared.ts";

/* Loaded by each test file of the suite before its own: nothing that is alone needs it, it is only quicker. */
const directory = shared;
if (directory) {
  enableCompileCache(join(directory, "compiled"));
  followTests();
  registerHooks({
    resolve(name, context, next) {
      if (!PACKAGES.has(name)) return next(name, context);
      const url = pathToFileURL(packageFile(directory, name)).href;
      return { url, format: "module", shortCircuit: true };
    },
  });
}
