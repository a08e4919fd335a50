import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { FIXED, seed } from "./seed.ts";

const root = join(import.meta.dirname, "../..");

/**
 * Whole files that `npm test` leaves to `npm run test:long`: seconds of CPU each, for promises that a shorter test guards in
 * daily work. Of other files single tests are left to it: `long.ts`.
 */
export const LONG: readonly string[] = [
  "app/prove/database",
  "app/offline/serve-sock-killed",
  "cli/completion",
  "cli/config-holidays",
  "cli/config-ladders",
  "cli/exit",
  "cli/follow",
  "cli/quickstart",
  "core/alerts/ahead",
  "core/alerts/quiet-stories",
  "faults/disk",
  "ground/store/start",
  "hosted/neighbours",
  "hosted/postgres/move",
  "hosted/postgres/registry",
  "hosted/tenants",
  "hostile/doors",
  "hostile/hosted",
  "hostile/ports",
  "in/adapters/json",
  "network/limits",
  "network/mutated",
  "project/apt",
  "project/archive",
  "project/bill",
  "project/demo",
  "project/documents",
  "project/mounted-key",
  "project/parts",
  "project/setup",
  "records/backup/kill-restore",
  "records/backup/load",
  "records/backup/scheduled",
  "records/import/alertmanager-any",
  "scenarios/asks-kill",
  "scenarios/contact-kinds",
  "scenarios/database-away",
  "scenarios/database-kill",
  "scenarios/database-steps",
  "scenarios/dead-names",
  "scenarios/fairness",
  "scenarios/four-people",
  "scenarios/gates",
  "scenarios/gates-out",
  "scenarios/go-on",
  "scenarios/habits-kill",
  "scenarios/heartbeats",
  "scenarios/heartbeats-kill",
  "scenarios/ladder-kill",
  "scenarios/link-senders",
  "scenarios/nobody-turns",
  "scenarios/nodes",
  "scenarios/nodes-stores",
  "scenarios/nodes/upgrade",
  "scenarios/page-flood",
  "scenarios/relay-crash",
  "scenarios/report-deadline",
  "scenarios/standby",
  "scenarios/standby-desk",
  "scenarios/standby-sync",
  "scenarios/twelve-hosts",
  "scenarios/upgrade-slow",
  "scenarios/upgrade-tenants",
  "scenarios/waiting-kill",
  "senders/gelf",
  "senders/hosts",
  "senders/killed",
  "senders/logs",
  "senders/mail",
  "senders/prometheus",
  "simulation/people",
  "web/console/simulate",
];

/**
 * Files that take long by themselves, each in a process of its own. They are started before all
 * others, so that none of them is the last that everybody waits for.
 */
export const FIRST: readonly string[] = [
  "project/documents",
  "scenarios/database-away",
  "scenarios/database-steps",
  "scenarios/standby",
  "scenarios/go-on",
  "scenarios/database-kill",
  "scenarios/heartbeats",
  "powercut/powercut",
  "app/prove/prove",
  "app/prove/database",
  "scenarios/nodes",
  "scenarios/nodes-stores",
  "scenarios/nodes/upgrade",
  "scenarios/dead-names",
  "records/backup/scheduled",
  "app/operate/desk",
  "hosted/postgres/serve",
  "hosted/postgres/registry",
  "hosted/postgres/move",
  "web/intake/mail",
  "hostile/ports",
  "simulation/people",
  "ground/kit/egress",
  "network/mutated",
  "senders/prometheus",
  "scenarios/relay",
  "scenarios/kill",
  "faults/disk",
  "matrix/matrix",
  "scenarios/report-deadline",
  "project/readme",
  "simulation/sim",
  "records/reports/renderer",
  "records/config-file/round-trip",
];

/**
 * Files that change or measure the process they are in (its thread pool, its limits, its heap, Node's own
 * functions), or that start so many others that a process more doesn't count. Each is alone in its own.
 */
export const ALONE: readonly string[] = [
  "project/setup",
  "project/demo",
  "project/archive",
  "project/bill",
  "project/units",
  // They wait while they are loaded.
  "project/apt",
  "project/mounted-key",
  "app/offline/serve-sock-killed",
  "cli/first-link",
  "project/bundle",
  "project/parts",
  "scenarios/young",
  "cli/look",
  "cli/alerts",
  "cli/exit",
  "cli/follow",
  "cli/threads",
  "cli/messages",
  "cli/usage",
  "hosted/neighbours",
  "hosted/tenants",
  "scenarios/fairness",
  "scenarios/relay-crash",
  "scenarios/heartbeats-kill",
  "senders/killed",
  "records/backup/load",
  "records/backup/kill-restore",
  "ground/store/start",
  "ground/store/upgrade",
  "ground/store/owner",
  "network/limits",
  "network/lane",
  "network/stop",
  "web/intake/ports",
  "hosted/apns",
];

/** How many of the others share one process: each that starts has a box's code to load and to warm up. */
const TOGETHER = 40;

const isOf = (names: readonly string[]) => (file: string) =>
  names.some((name) => file === `test/${name}.test.ts`);

export type Suite = "short" | "long" | "deep";

/** The files of a suite, of all. Some are of both the short and the long one: they have long tests beside others. */
export function filesOf(suite: Suite, files: readonly string[]): string[] {
  const isWhole = isOf(LONG);
  return files.filter((file) => {
    if (suite === "deep" || file.endsWith(".deep.ts"))
      return suite === "deep" && file.endsWith(".deep.ts");
    return suite === "short" ? !isWhole(file) : isWhole(file) || hasLong(file);
  });
}

/** It has long tests beside others. */
export const hasLong = (file: string): boolean =>
  /^import \{.*\b(test|inBoth)\b.*\} from "[./]+\/support\/long\.ts";$/m.test(
    readFileSync(join(root, file), "utf8"),
  );

/**
 * The test files ("test/core/alerts/ladder.test.ts") as processes run them, in the order of their start.
 * Files of one process are neighbours, which load the same code; any seed but the usual mixes them.
 */
export function grouped(files: readonly string[], by: number = seed): string[][] {
  const first = FIRST.flatMap((name) => files.filter(isOf([name])));
  const alone = files.filter(isOf(ALONE));
  const others = mixed(
    files.filter((file) => !first.includes(file) && !alone.includes(file)).toSorted(),
    by,
  );
  const shared: string[][] = [];
  for (let at = 0; at < others.length; at += TOGETHER) shared.push(others.slice(at, at + TOGETHER));
  return [...first.map((file) => [file]), ...shared, ...alone.map((file) => [file])];
}

function mixed(files: string[], by: number): string[] {
  if (by === FIXED) return files;
  const orders = fc.shuffledSubarray(files, { minLength: files.length });
  return fc.sample(orders, { seed: by, numRuns: 1 })[0] ?? [];
}
