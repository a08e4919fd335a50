/*
 * The suite of daily work (`npm test`), what it leaves out (`--long`: `npm run test:long`), the deep tests, one at a time
 * (`--deep`: `npm run test:deep`), or the files that are named, as paths or patterns. With `-- --account` it says at its end
 * how much CPU the dearest files took. Each file also runs by itself (`node --test FILE`); here those that don't mind share a
 * process, because to load a box and to warm up its code costs more than most files' tests.
 */
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { dearest, tooDear } from "./account.ts";
import { filesOf, grouped } from "./groups.ts";
import reporter from "./reporter.ts";
import { FIXED, seed } from "./seed.ts";
import { directory, globalSetup, globalTeardown } from "./setup.ts";

const root = join(import.meta.dirname, "../..");

/**
 * How many processes run at once, more than there are cores: most of a box's tests also wait, for disks and sockets, and the
 * long ones for leases and restarts most of their time.
 */
const AT_ONCE = { short: 6, long: 6, deep: 1 };
/** What lives for one test is dead before it is collected: a fiftieth of the CPU for 60 MB a process. */
const FEW_COLLECTIONS = ["--min-semi-space-size=16", "--max-semi-space-size=64"];
/** A file's or a test's, in milliseconds. */
const TIMEOUT = { short: 240_000, long: 600_000, deep: 3_600_000 };

const { values: asked, positionals: named } = parseArgs({
  options: { account: { type: "boolean" }, deep: { type: "boolean" }, long: { type: "boolean" } },
  allowPositionals: true,
});
const suite = asked.deep ? "deep" : asked.long ? "long" : "short";
const files =
  named.length > 0
    ? globSync(named, { cwd: root })
    : filesOf(suite, globSync("test/**/*.{test,deep}.ts", { cwd: root }));
if (files.length === 0) throw new Error(`no test file: ${named.join(" ")}`);

// Whoever interrupts it leaves nothing behind either.
process.once("exit", globalTeardown);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

// What is drawn at random has one seed in all of the suite's processes.
if (seed !== FIXED) process.env["SEED"] = String(seed);
await globalSetup();
const accounts = join(directory, "account");
writeFileSync(accounts, "");
process.env["BOX_TEST_ACCOUNT"] = accounts;
if (named.length === 0) process.env["BOX_TEST_SUITE"] = suite;

/** A failure that doesn't come again by itself is told and fails nothing, in so many files at most. */
const MOST_UNSTEADY = 6;
const AGAIN = 2;

const first = await runAll(grouped(files).map(entry), AT_ONCE[suite]);
if (asked.account) console.log(dearest(accounts));
// A deep test draws anew each time: one that passes later says nothing of the first.
if (!first.success) process.exitCode = suite !== "deep" && (await isUnsteady(first)) ? 0 : 1;
const dear = suite === "short" && named.length === 0 ? tooDear(accounts) : "";
if (dear) {
  console.log(dear);
  process.exitCode = 1;
}

interface Ended {
  success: boolean;
  /** Files with a test that failed, as paths from the root; null where something else failed. */
  failed: string[] | null;
}

/** Runs files, so many processes at once, and prints how it goes. */
async function runAll(entries: string[], atOnce: number): Promise<Ended> {
  const failed = new Set<string | null>();
  let success = true;
  const events = run({
    cwd: root,
    concurrency: atOnce,
    timeout: TIMEOUT[suite],
    execArgv: ["--import", join(import.meta.dirname, "preload.ts"), ...FEW_COLLECTIONS],
    files: entries,
  })
    .on("test:fail", (event) => {
      success = false;
      // What holds one that failed fails with it: in a shared process its file, by name.
      const { failureType } = event.details.error as { failureType?: string };
      const { name, file, entryFile, nesting } = event as typeof event & { entryFile?: string };
      const holder = failureType === "subtestsFailed" ? join(root, name) : undefined;
      // A test that test/support made has its place there, and not in its own file.
      const path = [holder, file, entryFile].find((path) => path?.endsWith(".test.ts"));
      if (path !== undefined) failed.add(relative(root, path));
      // A file couldn't be loaded, or a shared process ended early: no race.
      else if (nesting === 0 && failureType !== "subtestsFailed") failed.add(null);
    })
    .on("test:summary", (summary) => {
      if (!summary.success) success = false;
    });
  for await (const text of events.compose(reporter)) process.stdout.write(text);
  const files = [...failed].filter((file) => file !== null);
  return { success, failed: failed.has(null) ? null : files };
}

/**
 * Runs the files that failed again, one after the other with nothing beside them, so often that a race of their own would
 * show. Where all pass each time it was the company or a busy machine: they are named, for somebody to look at. Many files
 * that fail are no accident.
 */
async function isUnsteady({ failed }: Ended): Promise<boolean> {
  if (failed === null || failed.length === 0 || failed.length > MOST_UNSTEADY) return false;
  console.log(`\n${AGAIN} times more, alone: ${failed.join(", ")}`);
  for (let time = 0; time < AGAIN; time++) {
    const again = await runAll(
      failed.map((file) => join(root, file)),
      1,
    );
    if (!again.success) return false;
  }
  console.log(`\nUNSTEADY, failed above and passed alone: ${failed.join(", ")}`);
  return true;
}

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
