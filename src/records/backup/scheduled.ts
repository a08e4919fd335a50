import { promises } from "node:fs";
import { basename, join } from "node:path";
import * as z from "zod";
import { type Clock, sleep } from "../../ground/kit/clock.ts";
import type { Log } from "../../ground/kit/log.ts";
import { makeDirectoryAsync } from "../../ground/kit/make-directory.ts";
import { type OwnProcess, startOwn } from "../../ground/kit/own-process.ts";
import { isLeftover } from "../../ground/store/files.ts";
import { seeManifest } from "./verify.ts";

/** The options of `box serve --backup-dir`. */
export interface BackupPlan {
  dir: string;
  /** Hours from one backup to the next. */
  hours: number;
  /** How many are kept. */
  keep: number;
}

/** One backup. Times in Unix seconds, size in bytes. */
export const backupMade = z.object({
  file: z.string(),
  taken_at: z.int(),
  proved_at: z.int(),
  size: z.int(),
});
export type BackupMade = z.output<typeof backupMade>;

export interface ScheduledBackups {
  /** A job for the scheduler. */
  job: { name: string; run(now: number): Promise<number> };
  /** Makes a backup at once, unless one is being made. `now`: Unix seconds. */
  makeNow(now: number): void;
  isRunning(): boolean;
  /** The complete backups found at the last look into the directory, newest first. Each call starts another look. */
  list(): BackupMade[];
  /** The error of the last attempt; null where it succeeded. */
  failure(): string | null;
  /** Ends a backup that is being made and deletes its files. */
  stop(): Promise<void>;
}

const AGAIN_SECONDS = 900;
const ASKED_SECONDS = 60;
/** The next look comes after this at the latest: the clock may change, and the newest backup may be deleted. */
const LOOK_SECONDS = 3600;
/** How long a directory may take to answer. A network share may have lost its server. */
const PATIENCE_MS = 2000;

interface Surroundings {
  data: string;
  clock: Clock;
  log: Log;
  ended(): void;
  /** Whether the clock can be trusted. */
  isTimeKnown(): boolean;
}

/**
 * Regular backups while a box serves, each in a process of its own. Copying, proving and reading every page never delay
 * a page or an event, and can be ended at once. No other code waits for the backup directory.
 */
export function scheduledBackups(
  plan: BackupPlan,
  { data, clock, log, ended, isTimeKnown }: Surroundings,
): ScheduledBackups {
  let child: OwnProcess | null = null;
  let isMaking = false;
  let failure: string | null = null;
  let known: BackupMade[] = [];
  let looking: Promise<BackupMade[]> | null = null;
  let making: Promise<void> | null = null;
  const stopped = new AbortController();

  /** One look at a time: a directory that doesn't answer blocks one thread at most. */
  const look = () => {
    looking ??= madeIn(plan.dir)
      .then((made) => {
        known = made;
        return made;
      })
      .finally(() => {
        looking = null;
      });
    return looking;
  };

  const make = async (now: number): Promise<void> => {
    await makeDirectoryAsync(plan.dir);
    await sweep(plan);
    if (stopped.signal.aborted) return;
    const file = join(plan.dir, nameOf(now));
    child = startOwn(["backup", file, "--data", data, "--json"]);
    const { code, said } = await child.ended;
    child = null;
    if (code !== 0) throw new Error(said.trim() || `it ended with ${code}`);
    await prune(plan, file);
  };

  /** Returns whether a backup was made. `failure` keeps the error. */
  const attempt = async (now: number): Promise<boolean> => {
    isMaking = true;
    try {
      making = make(now);
      await making;
      if (failure !== null) log.info("backups work again");
      failure = null;
      return true;
    } catch (error) {
      if (stopped.signal.aborted) return false;
      failure = error instanceof Error ? error.message : String(error);
      log.error({ err: error, dir: plan.dir }, "the scheduled backup failed");
      return false;
    } finally {
      making = null;
      await soon(clock, look());
      isMaking = false;
      if (!stopped.signal.aborted) ended();
    }
  };

  const work = async (now: number): Promise<number> => {
    const due = dueAfter(await look(), plan, isTimeKnown() ? now : Number.POSITIVE_INFINITY);
    if (due > now) return Math.min(due, now + LOOK_SECONDS) * 1000;
    // A requested backup is under way. Check again once it is done.
    if (isMaking) return (now + ASKED_SECONDS) * 1000;
    const wait = (await attempt(now)) ? plan.hours * 3600 : AGAIN_SECONDS;
    return (now + Math.min(wait, LOOK_SECONDS)) * 1000;
  };

  return {
    job: {
      name: "backup",
      async run(now) {
        const end = onAbort(stopped.signal).then(() => now * 1000);
        return Promise.race([work(now), end]);
      },
    },
    makeNow(now) {
      if (!isMaking && !stopped.signal.aborted) void attempt(now);
    },
    isRunning: () => isMaking,
    list() {
      void look();
      return known;
    },
    failure: () => failure,
    async stop() {
      stopped.abort();
      if (making === null) return;
      child?.kill();
      await soon(clock, making);
      await soon(clock, sweep(plan));
    },
  };
}

function onAbort(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** null where the promise fails or takes too long. */
async function soon<T>(clock: Clock, promise: Promise<T>): Promise<T | null> {
  const over = new AbortController();
  const late = sleep(clock, PATIENCE_MS, over.signal).then(() => null);
  const first = await Promise.race([promise.catch(() => null), late]);
  over.abort();
  return first;
}

/** Deletes the files of backups that were interrupted. Each may be twice as large as the store. */
async function sweep({ dir }: BackupPlan): Promise<void> {
  const left = (await promises.readdir(dir)).filter((entry) =>
    isLeftover(entry, (name) => NAME.test(name)),
  );
  for (const entry of left) await promises.rm(join(dir, entry), { recursive: true, force: true });
}

/**
 * Unix seconds at which the next backup is due, counted from the newest one. A backup from the far future was made
 * while the clock was ahead; it doesn't count, because it would delay all others.
 */
function dueAfter(made: readonly BackupMade[], { hours }: BackupPlan, now: number): number {
  const wait = Math.ceil(hours * 3600);
  const last = made.find(({ taken_at }) => taken_at <= now + wait);
  return last === undefined ? 0 : last.taken_at + wait;
}

async function madeIn(dir: string): Promise<BackupMade[]> {
  const made: BackupMade[] = [];
  for (const name of await backupsIn(dir)) {
    try {
      const { taken_at, proved_at, size } = await seeManifest(join(dir, name));
      made.push({ file: name, taken_at, proved_at, size });
    } catch {
      // Being made, or without its manifest. The next older one may be complete.
    }
  }
  return made;
}

/** `box-2026-01-05T09-00-00Z.db`: sorts by time. */
function nameOf(now: number): string {
  const stamp = new Date(now * 1000).toISOString().replace(".000", "");
  return `box-${stamp.replaceAll(":", "-")}.db`;
}

const NAME = /^box-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;

/** Newest first. */
async function backupsIn(dir: string): Promise<string[]> {
  const names = await promises.readdir(dir).catch(() => []);
  return names
    .filter((name) => NAME.test(name))
    .sort()
    .reverse();
}

const DAY_MS = 86_400_000;

/** When a backup was made, in Unix milliseconds. */
function madeAt(name: string): number {
  const [date = "", time = ""] = name.slice("box-".length, -"Z.db".length).split("T");
  return Date.parse(`${date}T${time.replaceAll("-", ":")}Z`);
}

/**
 * Which of these backups go now that `made` is there: of those that are older than a day all but the last of each day (UTC),
 * and what is more than `keep`. Never the one just made. Of the others first those from the future: they were made while
 * the clock was ahead, and would take the places of all later ones. Pure.
 */
export function outdated(names: readonly string[], made: string, keep: number): string[] {
  const others = names.filter((name) => name !== made).toSorted((a, b) => (a < b ? 1 : -1));
  const days = new Set<string>();
  const isKept = (name: string) => {
    if (madeAt(made) - madeAt(name) < DAY_MS) return true;
    const day = name.slice(0, "box-2026-01-05".length);
    return days.size < days.add(day).size;
  };
  const past = others.filter((name) => name < made && isKept(name));
  const ahead = others.filter((name) => name > made);
  const kept = new Set([...past, ...ahead].slice(0, Math.max(0, keep - 1)));
  return others.filter((name) => !kept.has(name));
}

async function prune({ dir, keep }: BackupPlan, made: string): Promise<void> {
  for (const name of outdated(await backupsIn(dir), basename(made), keep))
    for (const end of ["", ".json", ".json.next", ".key"])
      await promises.rm(join(dir, name + end), { force: true });
}
