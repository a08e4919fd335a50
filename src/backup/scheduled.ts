import { mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../kit/log.ts";
import { type OwnProcess, startOwn } from "../kit/own-process.ts";
import { dropLeftovers } from "../store/files.ts";
import { readManifest } from "./verify.ts";

/** What `box serve --backup-dir` is told. */
export interface BackupPlan {
  dir: string;
  /** From one to the next. */
  hours: number;
  /** How many are kept. */
  keep: number;
}

/** One of them; times in Unix seconds, size in bytes. */
interface BackupMade {
  file: string;
  taken_at: number;
  proved_at: number;
  size: number;
}

export interface ScheduledBackups {
  /** A job of the scheduler. */
  job: { name: string; run(now: number): Promise<number> };
  /** Makes one beside them, unless one is being made. `now`: Unix seconds. */
  makeNow(now: number): void;
  isRunning(): boolean;
  /** Those that lie there whole, newest first. */
  list(): BackupMade[];
  /** What the last try said where it failed. */
  failure(): string | null;
  /** Ends a backup that is being made; what it has written so far goes with it. */
  stop(): Promise<void>;
}

const AGAIN_SECONDS = 900;
const ASKED_SECONDS = 60;

/**
 * Backups at regular times while a box serves, each in a process of its own: the copy, its proof and the
 * reading of every page never hold up a page or an event, and can be ended at once.
 */
export function scheduledBackups(
  plan: BackupPlan,
  {
    data,
    log,
    ended,
    isTimeKnown,
  }: {
    data: string;
    log: Log;
    ended(): void;
    /** Whether the clock can be trusted. */
    isTimeKnown(): boolean;
  },
): ScheduledBackups {
  let child: OwnProcess | null = null;
  let failure: string | null = null;
  let stopped = false;

  const make = async (now: number): Promise<void> => {
    mkdirSync(plan.dir, { recursive: true, mode: 0o700 });
    sweep(plan);
    const file = join(plan.dir, nameOf(now));
    child = startOwn(["backup", file, "--data", data, "--json"]);
    const { code, said } = await child.ended;
    child = null;
    if (code !== 0) throw new Error(said.trim() || `it ended with ${code}`);
    prune(plan, file);
  };

  /** Whether it was made; why not is kept. */
  const attempt = async (now: number): Promise<boolean> => {
    try {
      await make(now);
      if (failure !== null) log.info("backups work again");
      failure = null;
      return true;
    } catch (error) {
      if (stopped) return false;
      failure = error instanceof Error ? error.message : String(error);
      log.error({ err: error, dir: plan.dir }, "the scheduled backup failed");
      return false;
    } finally {
      if (!stopped) ended();
    }
  };

  return {
    job: {
      name: "backup",
      async run(now) {
        const due = dueAt(plan, isTimeKnown() ? now : Number.POSITIVE_INFINITY);
        if (due > now || stopped) return due * 1000;
        // One that somebody asked for is under way: the next look says whether it was enough.
        if (child !== null) return (now + ASKED_SECONDS) * 1000;
        const wait = (await attempt(now)) ? plan.hours * 3600 : AGAIN_SECONDS;
        return (now + wait) * 1000;
      },
    },
    makeNow(now) {
      if (child === null && !stopped) void attempt(now);
    },
    isRunning: () => child !== null,
    list: () => backupsIn(plan.dir).flatMap((name) => madeOf(plan, name)),
    failure: () => failure,
    async stop() {
      stopped = true;
      const running = child;
      if (running === null) return;
      running.kill();
      await running.ended;
      sweep(plan);
    },
  };
}

/** What was ended in the middle is as large as the store, or twice, and each has a name of its own. */
function sweep({ dir }: BackupPlan): void {
  dropLeftovers(dir, (name) => NAME.test(name));
}

/**
 * Unix seconds of the next one: the newest that lies there says when. One from long after `now` was made while the clock
 * was ahead, and would put off all others until then.
 */
function dueAt({ dir, hours }: BackupPlan, now: number): number {
  const wait = Math.ceil(hours * 3600);
  for (const name of backupsIn(dir)) {
    try {
      const { taken_at } = readManifest(join(dir, name));
      if (taken_at <= now + wait) return taken_at + wait;
    } catch {
      // Not one to count on: the next older one may be.
    }
  }
  return 0;
}

function madeOf({ dir }: BackupPlan, name: string): BackupMade[] {
  try {
    const { taken_at, proved_at, size } = readManifest(join(dir, name));
    return [{ file: name, taken_at, proved_at, size }];
  } catch {
    // One that is being made, or whose manifest is gone.
    return [];
  }
}

/** `box-2026-01-05T09-00-00Z.db`: sorts by time. */
function nameOf(now: number): string {
  const stamp = new Date(now * 1000).toISOString().replace(".000", "");
  return `box-${stamp.replaceAll(":", "-")}.db`;
}

const NAME = /^box-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.db$/;

/** Newest first. */
function backupsIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => NAME.test(name))
      .sort()
      .reverse();
  } catch {
    return [];
  }
}

/**
 * Never the one just made, which a clock that was ahead before may have made look old; and those of that clock before
 * any other, or they would take the places of all that follow.
 */
function prune({ dir, keep }: BackupPlan, made: string): void {
  const others = backupsIn(dir).filter((name) => join(dir, name) !== made);
  const isAhead = (name: string) => join(dir, name) > made;
  const kept = [...others.filter((name) => !isAhead(name)), ...others.filter(isAhead)];
  for (const name of kept.slice(Math.max(0, keep - 1)))
    for (const end of ["", ".json", ".json.next", ".key"])
      rmSync(join(dir, name + end), { force: true });
}
