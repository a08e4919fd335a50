import processes from "node:child_process";
import { enableCompileCache, registerHooks, syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import threads, { Worker, type WorkerOptions } from "node:worker_threads";
import { account } from "./account.ts";
import { followTests } from "./follow.ts";
import { PACKAGES, packageFile, programFileIn, shared, threadFileIn } from "./shared.ts";

/* Loaded by each test file of the suite before its own: nothing that is alone needs it, it is only quicker. */
const directory = shared;
if (directory) {
  enableCompileCache(join(directory, "compiled"));
  followTests();
  takeThreads(directory);
  takeProgram(directory);
  const entry = process.argv[1] ?? "";
  if (/\.test\.ts$|\/groups\/.+\.mjs$/.test(entry)) {
    process.once("exit", () => account(entry));
    const { after } = await import("node:test");
    // What the file itself does after its tests comes behind this, and takes its time.
    after(() => void setTimeout(endStuck, 60_000).unref());
  }
  registerHooks({
    resolve(name, context, next) {
      // The clone's program, where a shell starts it (`cli/box`).
      if (context.parentURL === undefined && name.endsWith("/cli/box.ts")) {
        const url = pathToFileURL(programFileIn(directory)).href;
        return { url, format: "commonjs", shortCircuit: true };
      }
      if (!PACKAGES.has(name)) return next(name, context);
      const url = pathToFileURL(packageFile(directory, name)).href;
      return { url, format: "module", shortCircuit: true };
    },
  });
}

/** Ends a process whose tests are over and that something left open keeps: the suite would wait for it forever. */
function endStuck(): void {
  const open = process.getActiveResourcesInfo().join(", ");
  console.error(`Its tests are over, and it doesn't end, because these are open: ${open}`);
  process.exit(1);
}

/** Threads of this process run the bundles of their programs. */
function takeThreads(directory: string): void {
  threads.Worker = class extends Worker {
    constructor(source: string | URL, options?: WorkerOptions) {
      const isOurs = source instanceof URL && /\/src\/.+-worker\.ts$/.test(source.pathname);
      super(isOurs ? threadFileIn(directory, source.pathname) : source, options);
    }
  };
  syncBuiltinESMExports();
}

/** What this program starts of itself in a process of its own is its bundle. */
function takeProgram(directory: string): void {
  const source = join(import.meta.dirname, "../../cli/box.ts");
  const { spawn } = processes;
  processes.spawn = ((program: string, words: readonly string[], options: object) => {
    if (words?.[0] !== source) return spawn(program, words, options);
    return spawn(program, [programFileIn(directory), ...words.slice(1)], options);
  }) as typeof spawn;
  syncBuiltinESMExports();
}
