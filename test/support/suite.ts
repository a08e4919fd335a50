/*
 * The whole suite, or the files that are named (as paths or patterns): `npm test`. Each file also runs by itself
 * (`node --test FILE`); here those that don't mind share a process, because to load a box and to warm
 * up its code costs more than most files' tests.
 */
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { grouped } from "./groups.ts";
import reporter from "./reporter.ts";
import { FIXED, seed } from "./seed.ts";
import { directory, globalSetup, globalTeardown } from "./setup.ts";

const root = join(import.meta.dirname, "../..");

/** Most of a box's tests also wait, for disks and sockets: more of them than there are cores. */
const AT_ONCE = 4;

const named = process.argv.slice(2);
const files = globSync(named.length > 0 ? named : ["test/**/*.test.ts"], { cwd: root });
if (files.length === 0) throw new Error(`no test file: ${named.join(" ")}`);

// Whoever interrupts it leaves nothing behind either.
process.once("exit", globalTeardown);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

// What is drawn at random has one seed in all of the suite's processes.
if (seed !== FIXED) process.env["SEED"] = String(seed);
await globalSetup();

run({
  ...{ cwd: root, concurrency: AT_ONCE, timeout: 240_000 },
  execArgv: ["--import", join(import.meta.dirname, "preload.ts")],
  files: grouped(files).map(entry),
})
  .on("test:fail", () => {
    process.exitCode = 1;
  })
  .on("test:summary", ({ success }) => {
    if (!success) process.exitCode = 1;
  })
  .compose(reporter)
  .pipe(process.stdout);

/** The file that a process is started with. */
function entry(group: string[]): string {
  const [first = ""] = group;
  if (group.length === 1) return join(root, first);
  const place = join(directory, "groups");
  mkdirSync(place, { recursive: true });
  const path = join(place, `${first.replaceAll("/", "-")}+${group.length - 1}.mjs`);
  const support = pathToFileURL(join(import.meta.dirname, "together.ts")).href;
  const list = JSON.stringify(group.map((file) => join(root, file)));
  writeFileSync(path, `import { together } from "${support}";\ntogether(${list});\n`);
  return path;
}
